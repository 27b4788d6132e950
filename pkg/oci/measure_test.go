package oci

import (
	"archive/tar"
	"strings"
	"testing"
)

func TestMeasureRefusesDisorder(t *testing.T) {
	for _, names := range [][2]string{{"a", "a"}, {"a/b", "a"}} {
		l := &Layer{entries: []Entry{{Name: names[0], Type: tar.TypeDir}, {Name: names[1], Type: tar.TypeDir}}}
		if err := l.measure(); err == nil || !strings.Contains(err.Error(), "does not come after") {
			t.Errorf("names %q: error %v", names, err)
		}
	}
}
