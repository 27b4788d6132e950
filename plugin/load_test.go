package plugin

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestFolderName(t *testing.T) {
	for folder, want := range map[string]string{
		"project":                "project",
		"My Project":             "my-project",
		"v1.2_rc-3":              "v1.2_rc-3",
		"-_.dots._-":             "dots",
		"日本":                     "workspace",
		"Grüße":                  "gr-e",
		strings.Repeat("a", 100): strings.Repeat("a", 63),
	} {
		t.Run(folder, func(t *testing.T) {
			if got := folderName(filepath.Join("/work", folder, "workspace.yaml")); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	t.Run("of a manifest without a directory", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if got, want := folderName("workspace.yaml"), folderName(filepath.Join(mustAbs(t, "."), "workspace.yaml")); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("of the root directory", func(t *testing.T) {
		if got := folderName("/workspace.yaml"); got != "workspace" {
			t.Errorf("got %q", got)
		}
	})
}

func mustAbs(t *testing.T, name string) string {
	t.Helper()
	abs, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
