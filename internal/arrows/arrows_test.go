// Package arrows holds the test that keeps the packages in their order.
package arrows

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/docker-workspace/docker-workspace/"

// allowed says which packages of ours each package may import, all in all.
// Data flows one way: what is not listed would make an arrow point back.
var allowed = map[string][]string{
	"pkg/manifest":         {},
	"pkg/oci":              {},
	"pkg/engine":           {},
	"pkg/plan":             {"pkg/manifest"},
	"pkg/materialize":      {"pkg/manifest", "pkg/oci"},
	"pkg/workspace":        {"pkg/manifest", "pkg/plan", "pkg/oci", "pkg/materialize", "pkg/engine"},
	"plugin":               {"pkg/manifest", "pkg/plan", "pkg/oci", "pkg/materialize", "pkg/engine", "pkg/workspace"},
	"cmd/docker-workspace": {"pkg/manifest", "pkg/plan", "pkg/oci", "pkg/materialize", "pkg/engine", "pkg/workspace", "plugin"},
}

// only says who alone may import a library.
var only = map[string]string{
	"github.com/docker/docker/": "pkg/engine",
	"github.com/docker/cli/":    "plugin",
}

func TestArrowsPointOneWay(t *testing.T) {
	for from, may := range allowed {
		for _, dep := range list(t, "-deps", "./"+from) {
			to, ours := strings.CutPrefix(dep, module)
			if ours && to != from && !slices.Contains(may, to) {
				t.Errorf("%s depends on %s", from, to)
			}
		}
	}
}

func TestEveryPackageHasItsPlace(t *testing.T) {
	for _, dir := range list(t, "./pkg/...", "./plugin/...", "./cmd/...") {
		name := strings.TrimPrefix(dir, module)
		if _, ok := allowed[name]; !ok && name != "pkg/engine/enginetest" {
			t.Errorf("%s is not in the list of packages: say what it may import", name)
		}
	}
}

func TestLibrariesAreImportedInOnePlace(t *testing.T) {
	for from := range allowed {
		for _, imported := range list(t, "-f", `{{join .Imports "\n"}}`, "./"+from) {
			for library, alone := range only {
				if strings.HasPrefix(imported, library) && from != alone {
					t.Errorf("%s imports %s, which only %s may", from, imported, alone)
				}
			}
		}
	}
}

// A JSON Schema library costs start-up time, which every docker workspace pays
// twice: the binary only embeds the finished schema.
func TestNoSchemaLibraryInTheBinary(t *testing.T) {
	for _, dep := range list(t, "-deps", "./cmd/docker-workspace") {
		if strings.Contains(dep, "jsonschema") {
			t.Errorf("the binary links %s", dep)
		}
	}
}

func list(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %s: %v", strings.Join(args, " "), err)
	}
	return strings.Fields(string(out))
}
