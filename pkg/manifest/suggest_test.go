package manifest

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"src", "exclude", "ephemeral", "mode", "permissions"}
	tests := []struct{ name, got, want string }{
		{"swapped letters", "ephmeeral", "ephemeral"},
		{"left out", "exclud", "exclude"},
		{"two changes", "permisions_", "permissions"},
		{"case", "Mode", "mode"},
		{"too far", "content", ""},
		{"short names need to be close", "xyc", ""},
		{"very long", strings.Repeat("x", 1000), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if want != "" {
				want = `did you mean "` + want + `"?`
			}
			if got := nearest(tt.got, names); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
