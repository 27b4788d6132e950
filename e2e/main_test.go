// Package e2e tests docker-workspace as its users run it: the binary, a real
// engine, a real base image and real git servers.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/workspace"
)

var (
	// base is an image with a shell, coreutils and git.
	base = os.Getenv("DOCKER_WORKSPACE_TEST_BASE")
	// binary is the built command.
	binary = os.Getenv("DOCKER_WORKSPACE_BIN")
	// eng is the engine under the tests.
	eng *engine.Client
)

func TestMain(m *testing.M) {
	if err := prepare(); err != nil {
		fmt.Fprintf(os.Stderr, "e2e: %v\nThese tests need an engine, a base image and the built plugin: run make test.\n", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func prepare() error {
	if base == "" || binary == "" {
		return errors.New("DOCKER_WORKSPACE_TEST_BASE and DOCKER_WORKSPACE_BIN are not set")
	}
	var err error
	if eng, err = engine.New(engine.Options{}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := eng.Ping(ctx); err != nil {
		return err
	}
	_, err = eng.InspectImage(ctx, base)
	return err
}

// outcome is what a command left.
type outcome struct {
	stdout, stderr string
	code           int
}

// cli runs docker-workspace in dir, with a home and caches of its own.
type cli struct {
	dir string
	env []string
}

func newCLI(t *testing.T) cli {
	t.Helper()
	home := t.TempDir()
	return cli{dir: t.TempDir(), env: []string{
		"HOME=" + home, "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "DOCKER_WORKSPACE_BASE=" + base, "NO_COLOR=1",
	}}
}

func (c cli) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), c.env...)
	return cmd
}

func (c cli) run(t *testing.T, args ...string) outcome {
	t.Helper()
	return finish(t, c.command(t.Context(), args...))
}

func finish(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// must runs a command that has to succeed, and returns its standard output.
func (c cli) must(t *testing.T, args ...string) string {
	t.Helper()
	out := c.run(t, args...)
	if out.code != 0 {
		t.Fatalf("docker-workspace %s: exit code %d\n%s%s", strings.Join(args, " "), out.code, out.stdout, out.stderr)
	}
	return out.stdout
}

// apply applies a manifest and returns its result; the workspace is removed at
// the end of the test.
func (c cli) apply(t *testing.T, name string, args ...string) workspace.Result {
	t.Helper()
	removeLater(t, name)
	out := c.must(t, append([]string{"apply", "--name", name, "--format", "json"}, args...)...)
	var result workspace.Result
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatalf("result of apply: %v\n%s", err, out)
	}
	return result
}

func removeLater(t *testing.T, name string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	client := &workspace.Client{Engine: eng}
	t.Cleanup(func() {
		if err := client.Remove(ctx, name); err != nil && !errors.Is(err, workspace.ErrNotFound) {
			t.Error(err)
		}
		nothingLeft(t, name)
	})
}

// nothingLeft checks that no container or image of a workspace exists, nor a
// container that lent its file system.
func nothingLeft(t *testing.T, name string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	for _, label := range []string{workspace.LabelName + "=" + name, workspace.LabelProbe} {
		containers, err := eng.ListContainers(ctx, label)
		if err != nil || len(containers) > 0 {
			t.Errorf("containers with label %s are left: %v, %v", label, containers, err)
		}
	}
	images, err := eng.ListImages(ctx)
	if err != nil {
		t.Error(err)
	}
	for _, image := range images {
		for _, tag := range image.Tags {
			if strings.HasPrefix(tag, "docker-workspace/"+name+":") {
				t.Errorf("image %s is left", tag)
			}
		}
	}
}

// volumes lists the engine's volumes.
func volumes(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "docker", "volume", "ls", "--quiet").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// write makes a file below dir and returns its path.
func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// unique makes a name of the test's own.
func unique(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("e2e-%s-%d", digest([]byte(t.Name()))[:10], os.Getpid())
}
