//go:build deps

package deps

import (
	_ "github.com/creack/pty"
	_ "github.com/docker/cli/cli-plugins/plugin"
	_ "github.com/docker/cli/cli/command"
	_ "github.com/docker/cli/cli/connhelper"
	_ "github.com/docker/docker/client"
	_ "github.com/docker/docker/api/types"
	_ "github.com/docker/docker/pkg/stdcopy"
	_ "github.com/docker/docker/pkg/jsonmessage"
	_ "github.com/docker/go-connections/nat"
	_ "github.com/docker/go-units"
	_ "github.com/goccy/go-yaml/parser"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/moby/patternmatcher"
	_ "github.com/opencontainers/go-digest"
	_ "github.com/opencontainers/image-spec/specs-go/v1"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/pflag"
	_ "github.com/testcontainers/testcontainers-go"
	_ "github.com/testcontainers/testcontainers-go/exec"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "pgregory.net/rapid"
)
