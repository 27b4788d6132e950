package manifest

import (
	"fmt"
	"io/fs"
	"testing"
)

func TestPermissions(t *testing.T) {
	const refused = fs.FileMode(1 << 12)
	tests := []struct {
		name, permissions string
		want              fs.FileMode
	}{
		{"letters", `rwxr-xr-x`, 0o755},
		{"file of ls", `-rwxr-xr-x`, 0o755},
		{"directory of ls", `drwxr-x--x`, 0o751},
		{"none", `"---------"`, 0},
		{"octal", `"0644"`, 0o644},
		{"three digits", `"750"`, 0o750},
		{"bits", `{owner: 7, group: 0, other: 5}`, 0o705},
		{"bits of the SDK", `{owner: 7, group: 5, other: 5, directory: true}`, 0o755},
		{"access control mark", `-rwxr-xr-x+`, refused},
		{"set user id", `-rwsr-xr-x`, refused},
		{"set user id without x", `-rwSr--r--`, refused},
		{"sticky", `drwxrwxrwt`, refused},
		{"sticky without x", `drwxrwxrwT`, refused},
		{"sticky out of place", `-rwtr--r--`, refused},
		{"link", `lrwxrwxrwx`, refused},
		{"letters out of place", `xwrxwrxwr`, refused},
		{"too short", `rwx`, refused},
		{"empty", `""`, refused},
		{"special bits in octal", `"4755"`, refused},
		{"not octal", `"0888"`, refused},
		{"five digits", `"00644"`, refused},
		{"number", `0644`, refused},
		{"bit above", `{owner: 9, group: 5, other: 5}`, refused},
		{"bit below", `{owner: -1, group: 5, other: 5}`, refused},
		{"bits left out", `{owner: 7}`, refused},
		{"list", `[7, 5, 5]`, refused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := fmt.Sprintf("entries: {f: {type: file, permissions: %s}}\n", tt.permissions)
			if tt.want == refused {
				wantInvalid(t, doc)
				return
			}
			m := decodeString(t, doc, DecodeOptions{})
			if got := m.Entries[0].Entry.Attrs().Mode; got == nil || *got != tt.want {
				t.Errorf("got %v, want %O", got, uint32(tt.want))
			}
		})
	}
}

func TestModeIsOctalText(t *testing.T) {
	tests := []struct {
		name, mode string
		valid      bool
	}{
		{"four digits", `"0755"`, true},
		{"three digits", `"755"`, true},
		{"number", `0755`, false},
		{"letters", `rwxr-xr-x`, false},
		{"special bits", `"1777"`, false},
		{"two digits", `"75"`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := fmt.Sprintf("entries: {f: {type: file, mode: %s}}\n", tt.mode)
			if !tt.valid {
				wantInvalid(t, doc)
				return
			}
			if got := *decodeString(t, doc, DecodeOptions{}).Entries[0].Entry.Attrs().Mode; got != 0o755 {
				t.Errorf("got %O, want 0755", uint32(got))
			}
		})
	}
}
