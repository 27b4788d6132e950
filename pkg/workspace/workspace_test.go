package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/engine/enginetest"
	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/plan"
	"github.com/docker-workspace/docker-workspace/pkg/workspace"
)

const baseRef = "sandbox:1"

// baseImage is an image of about two megabytes with what a workspace needs.
func baseImage() enginetest.Image {
	return enginetest.Image{Ref: baseRef, Cmd: []string{"sh"}, Env: []string{"PATH=/bin"}, Layers: [][]byte{enginetest.Tar(
		enginetest.File{Name: "bin", Type: '5'},
		enginetest.File{Name: "bin/sh", Mode: 0o755, Content: strings.Repeat("x", 2<<20)},
		enginetest.File{Name: "bin/sleep", Mode: 0o755},
		enginetest.File{Name: "etc", Type: '5'},
		enginetest.File{Name: "etc/passwd", Content: "root:x:0:0:root:/root:/bin/sh\n"},
		enginetest.File{Name: "etc/group", Content: "root:x:0:\n"},
		enginetest.File{Name: "tmp", Type: '5', Mode: 0o1777},
	)}}
}

const commit = "0123456789abcdef0123456789abcdef01234567"

// git stands for the clone script: it writes one file and names its commit.
func git(_ context.Context, call *enginetest.ExecCall) int {
	dest := call.Cmd[4]
	if strings.Contains(call.Cmd[5], "unreachable") {
		fmt.Fprintln(call.Stderr, "fatal: unable to connect")
		return 72
	}
	if err := call.Container.Write(enginetest.File{Name: strings.TrimPrefix(dest, "/") + "/cloned", Content: "cloned"}); err != nil {
		fmt.Fprintln(call.Stderr, err)
		return 1
	}
	fmt.Fprintln(call.Stdout, "commit "+commit)
	return 0
}

func start(t *testing.T, opts enginetest.Options) (*enginetest.Engine, *workspace.Client) {
	t.Helper()
	if opts.Images == nil {
		opts.Images = []enginetest.Image{baseImage()}
	}
	if opts.Exec == nil {
		opts.Exec = git
	}
	fake := enginetest.New(t, opts)
	eng, err := engine.New(engine.Options{Host: fake.Host()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	return fake, &workspace.Client{Engine: eng, CacheDir: t.TempDir()}
}

func decode(t *testing.T, document string) *manifest.Manifest {
	t.Helper()
	m, _, err := manifest.Decode(strings.NewReader(document), manifest.DecodeOptions{Filename: "workspace.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	if m.Base == "" {
		m.Base = baseRef
	}
	return m
}

const everything = `
name: ws
users: [{name: alice}]
run_as: alice
environment: {A: "1", B: {value: two, ephemeral: true}}
entries:
  a.txt: {type: file, content: hello}
  src: {type: git_repo, url: "git://example.com/r.git"}
  src/over: {type: file, content: over}
`

func files(c *enginetest.Container) map[string]string {
	got := map[string]string{}
	for _, f := range c.Files() {
		if strings.HasPrefix(f.Name, "workspace/") && f.Content != "" {
			got[f.Name] = f.Content
		}
	}
	return got
}

func TestApplyMakesAllThatIsDeclared(t *testing.T) {
	for _, strategy := range []plan.Strategy{plan.Copy, plan.Image} {
		for _, containerd := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, containerd %v", strategy, containerd), func(t *testing.T) {
				fake, client := start(t, enginetest.Options{Containerd: containerd})
				result, err := client.Apply(t.Context(), decode(t, everything), workspace.ApplyOptions{Strategy: strategy})
				if err != nil {
					t.Fatal(err)
				}
				want := map[string]string{"workspace/a.txt": "hello", "workspace/src/cloned": "cloned", "workspace/src/over": "over"}
				if diff := cmp.Diff(want, files(fake.Container("ws"))); diff != "" {
					t.Errorf("files (-want +got):\n%s", diff)
				}
				if len(result.Git) != 1 || result.Git[0].Commit != commit {
					t.Errorf("git is %+v", result.Git)
				}
				if got := fake.Containers(); len(got) != 1 || got[0] != "ws" {
					t.Errorf("containers are %q", got)
				}
				c, err := client.Engine.InspectContainer(t.Context(), "ws")
				if err != nil {
					t.Fatal(err)
				}
				if c.User != "alice" || c.WorkingDir != "/workspace" || !slices.Contains(c.Env, "A=1") || !slices.Contains(c.Env, "B=two") {
					t.Errorf("the container is %+v", c)
				}
				again, err := client.Apply(t.Context(), decode(t, everything), workspace.ApplyOptions{Strategy: strategy})
				if err != nil || len(again.Operations) != 0 || again.ContainerID != result.ContainerID {
					t.Errorf("the second apply did %+v, %v", again, err)
				}
			})
		}
	}
}

func TestImageHoldsNothingEphemeral(t *testing.T) {
	_, client := start(t, enginetest.Options{})
	result, err := client.Apply(t.Context(), decode(t, everything), workspace.ApplyOptions{Strategy: plan.Image})
	if err != nil {
		t.Fatal(err)
	}
	image, err := client.Engine.InspectImage(t.Context(), result.Image.Reference)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"PATH=/bin", "A=1"}, image.Config.Env); diff != "" {
		t.Errorf("environment of the image (-want +got):\n%s", diff)
	}
}

// The base's two megabytes stay where they are, unless the engine wants them.
func TestLoadSendsOnlyWhatTheEngineLacks(t *testing.T) {
	load := func(t *testing.T, opts enginetest.Options, prepare func(*enginetest.Engine)) int64 {
		fake, client := start(t, opts)
		prepare(fake)
		if _, err := client.Apply(t.Context(), decode(t, everything), workspace.ApplyOptions{Strategy: plan.Image}); err != nil {
			t.Fatal(err)
		}
		var sent int64
		for _, r := range fake.Requests() {
			if r.Path == "/images/load" {
				sent += r.BodySize
			}
		}
		return sent
	}
	if sent := load(t, enginetest.Options{}, func(*enginetest.Engine) {}); sent > 64<<10 {
		t.Errorf("%d bytes were sent to an engine that has the base", sent)
	}
	if sent := load(t, enginetest.Options{Containerd: true}, func(*enginetest.Engine) {}); sent < 2<<20 {
		t.Errorf("only %d bytes were sent to an engine that takes whole images", sent)
	}
	refuseOnce := func(fake *enginetest.Engine) {
		fake.FailOnce(http.MethodPost, "/images/load", http.StatusOK, "layer not found")
	}
	if sent := load(t, enginetest.Options{}, refuseOnce); sent < 2<<20 {
		t.Errorf("only %d bytes were sent after the engine had refused a thin archive", sent)
	}
}

func TestWhatABaseHoldsIsAskedOnce(t *testing.T) {
	fake, client := start(t, enginetest.Options{})
	count := func() (probes, archives int) {
		for _, r := range fake.Requests() {
			switch {
			case r.Method == http.MethodGet && strings.HasSuffix(r.Path, "/archive"):
				archives++
			case r.Path == "/containers/create" && strings.Contains(string(r.Body), workspace.LabelProbe):
				probes++
			}
		}
		return probes, archives
	}
	for i := range 2 {
		opts := workspace.ApplyOptions{Name: fmt.Sprint("ws", i), Strategy: plan.Image}
		m := decode(t, "users: [{name: alice}]\nentries: {a: {type: file}}")
		if _, err := client.Apply(t.Context(), m, opts); err != nil {
			t.Fatal(err)
		}
		if probes, archives := count(); probes != 1 || archives == 0 || archives > 6 {
			t.Errorf("after apply %d: %d containers and %d questions", i, probes, archives)
		}
	}
}

// pattern turns the path of a request into one that a rule of the fake engine
// matches: what is no word of the API is a name or an id.
func pattern(r enginetest.Request) string {
	words := []string{"", "info", "images", "containers", "exec", "create", "json", "load", "get", "start", "stop", "rename", "archive"}
	parts := strings.Split(r.Path, "/")
	for i, part := range parts {
		if !slices.Contains(words, part) {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/")
}

type call struct{ method, pattern string }

// kinds are the distinct calls among requests, without removals: those are what
// a failed apply still needs.
func kinds(requests []enginetest.Request) []call {
	var found []call
	for _, r := range requests {
		c := call{r.Method, pattern(r)}
		if r.Method != http.MethodDelete && r.Path != "/_ping" && !slices.Contains(found, c) {
			found = append(found, c)
		}
	}
	return found
}

// calls are what an apply of everything asks of the engine.
func calls(t *testing.T, opts workspace.ApplyOptions) []call {
	t.Helper()
	fake, client := start(t, enginetest.Options{})
	if _, err := client.Apply(t.Context(), decode(t, everything), opts); err != nil {
		t.Fatal(err)
	}
	return kinds(fake.Requests())
}

// Whichever request fails or hangs until the caller gives up: the error says
// so, and nothing that apply made is left.
func TestAnyFailureLeavesNothing(t *testing.T) {
	for _, strategy := range []plan.Strategy{plan.Copy, plan.Image} {
		opts := workspace.ApplyOptions{Strategy: strategy}
		for _, c := range calls(t, opts) {
			t.Run(fmt.Sprintf("%s, %s %s fails", strategy, c.method, c.pattern), func(t *testing.T) {
				fake, client := start(t, enginetest.Options{})
				before := fake.Images()
				fake.Fail(c.method, c.pattern, http.StatusInternalServerError, "something broke")
				_, err := client.Apply(t.Context(), decode(t, everything), opts)
				// Where a connection is to be taken over, the client only gives the status.
				if err == nil || !strings.Contains(err.Error(), "something broke") && !strings.Contains(err.Error(), "500") {
					t.Errorf("apply gave %v", err)
				}
				nothingLeft(t, fake, before)
			})
			t.Run(fmt.Sprintf("%s, %s %s is cancelled", strategy, c.method, c.pattern), func(t *testing.T) {
				fake, client := start(t, enginetest.Options{})
				before := fake.Images()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				arrived, _ := fake.Hold(c.method, c.pattern)
				go func() { <-arrived; cancel() }()
				if _, err := client.Apply(ctx, decode(t, everything), opts); !errors.Is(err, context.Canceled) {
					t.Errorf("apply gave %v", err)
				}
				nothingLeft(t, fake, before)
			})
		}
	}
}

func nothingLeft(t *testing.T, fake *enginetest.Engine, images []string) {
	t.Helper()
	if got := fake.Containers(); len(got) != 0 {
		t.Errorf("containers are left: %q", got)
	}
	if diff := cmp.Diff(images, fake.Images()); diff != "" {
		t.Errorf("images (-before +after):\n%s", diff)
	}
}

// Whichever request of a replacement fails or is cancelled: what was there is
// back under its name, and runs.
func TestFailedRecreateKeepsWhatWasThere(t *testing.T) {
	again := decode(t, strings.Replace(everything, "hello", "changed", 1))
	opts := workspace.ApplyOptions{Recreate: true, Strategy: plan.Image}
	setUp := func(t *testing.T) (*enginetest.Engine, *workspace.Client, string) {
		fake, client := start(t, enginetest.Options{})
		first, err := client.Apply(t.Context(), decode(t, everything), workspace.ApplyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return fake, client, first.ContainerID
	}
	stillThere := func(t *testing.T, fake *enginetest.Engine, client *workspace.Client, id string) {
		c, err := client.Engine.InspectContainer(t.Context(), "ws")
		if err != nil || c.ID != id || c.State != "running" {
			t.Errorf("the workspace is %+v, %v", c, err)
		}
		if got := fake.Containers(); len(got) != 1 {
			t.Errorf("containers are %q", got)
		}
	}
	fake, client, old := setUp(t)
	before := len(fake.Requests())
	result, err := client.Apply(t.Context(), again, opts)
	if err != nil || result.ContainerID == old || len(fake.Containers()) != 1 || files(fake.Container("ws"))["workspace/a.txt"] != "changed" {
		t.Fatalf("a replacement gave %+v, %v", result, err)
	}
	for _, c := range kinds(fake.Requests()[before:]) {
		if c.pattern == "/containers/*/start" {
			continue // what would start the old one again
		}
		t.Run(fmt.Sprintf("%s %s fails", c.method, c.pattern), func(t *testing.T) {
			fake, client, old := setUp(t)
			fake.FailOnce(c.method, c.pattern, http.StatusInternalServerError, "something broke")
			_, err := client.Apply(t.Context(), again, opts)
			if err == nil && c.pattern == "/images/load" {
				return // the full archive took over
			}
			if err == nil {
				t.Error("the replacement succeeded")
			}
			stillThere(t, fake, client, old)
		})
	}
	t.Run("a clone fails", func(t *testing.T) {
		fake, client, old := setUp(t)
		broken := decode(t, strings.Replace(everything, "example.com", "unreachable", 1))
		if _, err := client.Apply(t.Context(), broken, opts); err == nil {
			t.Error("a clone of an unreachable repository succeeded")
		}
		stillThere(t, fake, client, old)
	})
}

// A pull may bring another base: what was asked about the first is given up.
func TestPullAlwaysLeavesNoProbe(t *testing.T) {
	fake, client := start(t, enginetest.Options{Registry: []enginetest.Image{baseImage()}})
	client.CacheDir = ""
	if _, err := client.Apply(t.Context(), decode(t, everything), workspace.ApplyOptions{Pull: plan.PullAlways}); err != nil {
		t.Fatal(err)
	}
	if got := fake.Containers(); len(got) != 1 || got[0] != "ws" {
		t.Errorf("containers are %q", got)
	}
}

// The engine takes the start of an id for a name; a workspace's name is only
// its name.
func TestNameThatBeginsAnID(t *testing.T) {
	fake, client := start(t, enginetest.Options{})
	other, err := client.Engine.CreateContainer(t.Context(), engine.ContainerSpec{Image: baseRef, Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	name := other.ID[:6]
	if _, err := client.Apply(t.Context(), decode(t, everything), workspace.ApplyOptions{Name: name}); err != nil {
		t.Fatal(err)
	}
	if got := fake.Containers(); len(got) != 2 {
		t.Errorf("containers are %q", got)
	}
}

// Two applies of one name at once: one makes the workspace, the other says so
// and leaves nothing.
func TestConcurrentApplies(t *testing.T) {
	fake, client := start(t, enginetest.Options{})
	m := decode(t, everything)
	errs := make(chan error)
	for range 4 {
		go func() {
			_, err := client.Apply(t.Context(), m, workspace.ApplyOptions{})
			errs <- err
		}()
	}
	won := 0
	for range 4 {
		switch err := <-errs; {
		case err == nil:
			won++
		case !errors.Is(err, engine.ErrConflict):
			t.Errorf("a losing apply gave %v", err)
		}
	}
	if got := fake.Containers(); won == 0 || len(got) != 1 || got[0] != "ws" {
		t.Errorf("%d won, containers are %q", won, got)
	}
}

func TestWhatAnIncludeNamesIsMissing(t *testing.T) {
	_, client := start(t, enginetest.Options{})
	_, err := client.Plan(t.Context(), decode(t, "include: [other.yaml]"), workspace.ApplyOptions{Name: "ws"})
	if err == nil || !strings.Contains(err.Error(), `include ["other.yaml"] is not read`) {
		t.Errorf("plan gave %v", err)
	}
}

func TestUnsupportedIsRefusedBeforeAnything(t *testing.T) {
	tests := map[string]string{
		"iac":              "iac: {provider: tofu, working_directory: /x}\nentries: {}",
		"remove":           "remove: [/usr/share/doc]\nentries: {}",
		"box_mount":        "entries: {b: {type: box_mount}}",
		"volume_mount":     "entries: {v: {type: volume_mount}}",
		"submodules":       "entries: {g: {type: git_repo, repo: a/b, submodules: true}}",
		"symlinks: follow": "entries: {d: {type: local_dir, src: ., symlinks: follow}}",
		"ignore_file":      "entries: {d: {type: local_dir, src: ., ignore_file: .dockerignore}}",
		`base "scratch"`:   "base: scratch\nentries: {}",
	}
	for what, document := range tests {
		t.Run(what, func(t *testing.T) {
			fake, client := start(t, enginetest.Options{})
			_, err := client.Apply(t.Context(), decode(t, document), workspace.ApplyOptions{Name: "ws"})
			if err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), "not supported") {
				t.Errorf("apply gave %v", err)
			}
			for _, r := range fake.Requests() {
				t.Errorf("the engine was asked: %s %s", r.Method, r.Path)
			}
		})
	}
}
