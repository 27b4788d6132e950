package plugin_test

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/docker-workspace/docker-workspace/pkg/engine/enginetest"
	"github.com/docker-workspace/docker-workspace/plugin"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"docker-workspace": func() { os.Exit(plugin.Main()) },
	})
}

// Every script has directories and an engine of its own: a fake with the images
// of images, whose registry has one more.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			tb, ok := env.T().(testing.TB)
			if !ok {
				return errors.New("a script must run below a test")
			}
			e := &scriptEngine{fake: newEngine(tb)}
			for key, value := range environment(e.fake, env.WorkDir) {
				env.Setenv(key, value)
			}
			e.config = env.Getenv("DOCKER_CONFIG")
			env.Values[engineKey{}] = e
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"engine": engineCommand,
		},
	})
}

// environment keeps a command away from what the machine has.
func environment(engine *enginetest.Engine, dir string) map[string]string {
	return map[string]string{
		"DOCKER_HOST":    engine.Host(),
		"DOCKER_CONFIG":  filepath.Join(dir, ".docker"),
		"HOME":           filepath.Join(dir, ".home"),
		"XDG_CACHE_HOME": filepath.Join(dir, ".cache"),
		"NO_COLOR":       "1",
	}
}

// exits is exec for a command that must end with one exit code:
//
//	exits CODE COMMAND [ARG...]
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var ended *exec.ExitError
	switch err := ts.Exec(args[1], args[2:]...); {
	case errors.As(err, &ended):
		got = ended.ExitCode()
	case err != nil:
		ts.Fatalf("run %s: %v", args[1], err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
