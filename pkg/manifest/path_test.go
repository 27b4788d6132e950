package manifest

import (
	"errors"
	"strings"
	"testing"
)

func TestCleanPath(t *testing.T) {
	long := strings.Repeat("x", 255)
	tests := []struct {
		name, path, want, reason string
	}{
		{"plain", "a/b", "a/b", ""},
		{"doubled slash", "a//b", "a/b", ""},
		{"leading dot", "./a", "a", ""},
		{"inner dot", "a/./b", "a/b", ""},
		{"trailing slash", "a/", "a", ""},
		{"backslash", `a\b`, "a/b", ""},
		{"home is literal", "~/x", "~/x", ""},
		{"leading blank is literal", " x", " x", ""},
		{"dots in names", "..a/b..", "..a/b..", ""},
		{"control character", "a\nb", "a\nb", ""},
		{"colon later on", "ab:c", "ab:c", ""},
		{"longest component", long, long, ""},
		{"empty", "", "", ReasonEmpty},
		{"dot", ".", "", ReasonEmpty},
		{"dot slash", "./", "", ReasonEmpty},
		{"absolute", "/abs", "", ReasonAbsolute},
		{"absolute backslash", `\abs`, "", ReasonAbsolute},
		{"drive", `C:\x`, "", ReasonAbsolute},
		{"drive-relative", "C:x", "", ReasonAbsolute},
		{"hidden drive", "./c:x", "", ReasonAbsolute},
		{"UNC", `\\host\x`, "", ReasonAbsolute},
		{"parent", "../x", "", ReasonEscapeRoot},
		{"parent that stays inside", "a/../b", "", ReasonEscapeRoot},
		{"parent with backslashes", `a\..\b`, "", ReasonEscapeRoot},
		{"parent at the end", "a/..", "", ReasonEscapeRoot},
		{"NUL", "a\x00b", "", ReasonNUL},
		{"not UTF-8", "a\xff", "", ReasonInvalidUTF8},
		{"component too long", "a/" + long + "x", "", ReasonComponentTooLong},
		{"path too long", strings.Repeat("abcdefg/", 513), "", ReasonTooLong},
		{"longest path", strings.Repeat("abcdefg/", 512), strings.TrimSuffix(strings.Repeat("abcdefg/", 512), "/"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := CleanPath(tt.path)
			if got != tt.want {
				t.Errorf("CleanPath(%q) = %q, want %q", tt.path, got, tt.want)
			}
			var pe *PathError
			if errors.As(err, &pe) != (tt.reason != "") || pe != nil && pe.Reason != tt.reason {
				t.Fatalf("CleanPath(%q) failed with %v, want reason %q", tt.path, err, tt.reason)
			}
			if pe != nil && pe.Path != tt.path {
				t.Errorf("the error is about %q, want the path as written", pe.Path)
			}
		})
	}
}
