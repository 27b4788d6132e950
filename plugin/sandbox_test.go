package plugin_test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/docker-workspace/docker-workspace/pkg/engine/enginetest"
)

// newEngine starts a fake engine with three sandbox images: one that has all
// that a workspace needs, one without git and one without a shell.
func newEngine(tb testing.TB) *enginetest.Engine {
	return enginetest.New(tb, enginetest.Options{
		Images: []enginetest.Image{
			sandbox("base:1", "cat", "fail", "git", "show", "sh", "sleep", "true"),
			sandbox("nogit:1", "sh", "sleep"),
			sandbox("noshell:1", "sleep"),
		},
		Registry: []enginetest.Image{sandbox("registry.example/pulled:1", "sh", "sleep", "git")},
		Exec:     run,
	})
}

func sandbox(ref string, commands ...string) enginetest.Image {
	files := []enginetest.File{
		{Name: "bin", Type: tar.TypeDir},
		{Name: "etc", Type: tar.TypeDir},
		{Name: "etc/group", Content: "root:x:0:\ndev:x:1000:\n"},
		{Name: "etc/passwd", Content: "root:x:0:0:root:/root:/bin/sh\ndev:x:1000:1000::/home/dev:/bin/sh\n"},
		{Name: "tmp", Type: tar.TypeDir, Mode: 0o1777},
	}
	for _, command := range commands {
		files = append(files, enginetest.File{Name: "bin/" + command, Mode: 0o755})
	}
	return enginetest.Image{Ref: ref, Layers: [][]byte{enginetest.Tar(files...)}, Env: []string{"PATH=/bin"}, Cmd: []string{"sh"}}
}

// run stands for the commands of the sandbox images.
func run(ctx context.Context, call *enginetest.ExecCall) int {
	switch command := call.Cmd[0]; {
	case command == "cat":
		_, _ = io.Copy(call.Stdout, call.Stdin)
	case command == "fail":
		fmt.Fprintln(call.Stderr, "failing as told")
		code, _ := strconv.Atoi(call.Cmd[1])
		return code
	case command == "show":
		fmt.Fprintf(call.Stdout, "dir %s\nuser %s\nenv %s\n", call.WorkingDir, call.User, strings.Join(call.Env, " "))
	case command == "sh" && call.TTY:
		return shell(call)
	case command == "sh" && len(call.Cmd) == 9 && call.Cmd[3] == "clone":
		return clone(ctx, call)
	}
	return 0
}

// shell answers every key until ctrl-d, which is a NUL if it was pressed before
// the terminal was told to hand on every key.
func shell(call *enginetest.ExecCall) int {
	input := bufio.NewReader(call.Stdin)
	for {
		key, err := input.ReadByte()
		switch {
		case err != nil:
			return 1
		case key == '\x04', key == 0:
			fmt.Fprintf(call.Stdout, "bye from %s\n", call.WorkingDir)
			return 0
		default:
			_, _ = call.Stdout.Write(bytes.ToUpper([]byte{key}))
		}
	}
}

const clonedCommit = "0123456789abcdef0123456789abcdef01234567"

// clone answers the script that clones a repository with the exit codes which
// that has for what it finds. The last part of the URL says what is found.
func clone(ctx context.Context, call *enginetest.ExecCall) int {
	dest, url := call.Cmd[4], call.Cmd[5]
	if _, ok := call.Container.File("bin/git"); !ok {
		return 71
	}
	switch path.Base(url) {
	case "unreachable.git":
		fmt.Fprintf(call.Stderr, "fatal: unable to connect to git.example: Connection refused\n")
		return 72
	case "noref.git":
		return 73
	case "nosubpath.git":
		return 76
	case "slow.git":
		<-ctx.Done()
		return 130
	}
	if err := call.Container.Write(enginetest.File{Name: path.Join(dest, "README")[1:], Content: "cloned from " + url + "\n"}); err != nil {
		fmt.Fprintln(call.Stderr, err)
		return 77
	}
	fmt.Fprintln(call.Stdout, "commit "+clonedCommit)
	return 0
}
