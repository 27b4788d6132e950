// Command docker-workspace is the Docker CLI plugin "docker workspace", and the
// same tool when it is called by its own name.
package main

import (
	"os"

	"github.com/docker-workspace/docker-workspace/plugin"
)

func main() {
	os.Exit(plugin.Main())
}
