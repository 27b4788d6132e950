package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInterpolate(t *testing.T) {
	env := map[string]string{"V": "val", "EMPTY": "", "N": "8080", "B": "true"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	tests := []struct {
		name, value string
		want        string // the label's value
		code        string
	}{
		{"braces", `a-${V}-b`, "a-val-b", ""},
		{"twice", `${V}${V}`, "valval", ""},
		{"bare name", `$V`, "$V", ""},
		{"doubled", `$${V}`, "${V}", ""},
		{"doubled before a reference", `$$${V}`, "$val", ""},
		{"dollar at the end", `a$`, "a$", ""},
		{"default for unset", `${X:-d}`, "d", ""},
		{"default for empty", `${EMPTY:-d}`, "d", ""},
		{"default not needed", `${V:-d}`, "val", ""},
		{"empty default", `"a${X:-}"`, "a", ""},
		{"default with a colon", `"${X:-a:b-c}"`, "a:b-c", ""},
		{"quoted stays a string", `"${N}"`, "8080", ""},
		{"plain becomes a number", `${N}`, "", CodeWrongType},
		{"plain becomes a boolean", `${B}`, "", CodeWrongType},
		{"plain becomes null", `${EMPTY}`, "", CodeWrongType},
		{"values are not expanded again", `"${R:-$}{V}"`, "${V}", ""},
		{"unset", `a${X}`, "", CodeUnsetVariable},
		{"required", `"${X:?give one}"`, "", CodeUnsetVariable},
		{"required but empty", `"${EMPTY:?}"`, "", CodeUnsetVariable},
		{"required and set", `"${V:?give one}"`, "val", ""},
		{"no closing brace", `"${V"`, "", CodeInterpolation},
		{"no name", `"${}"`, "", CodeInterpolation},
		{"bad name", `"${1A}"`, "", CodeInterpolation},
		{"other form", `"${V-d}"`, "", CodeInterpolation},
		{"alternative form", `"${V:+d}"`, "", CodeInterpolation},
		{"nested", `"${X:-${V}}"`, "", CodeInterpolation},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, list, err := Decode(strings.NewReader("labels:\n  l: "+tt.value+"\n"), DecodeOptions{Lookup: lookup})
			if tt.code != "" {
				want := []string{"2:6 " + tt.code + ` labels["l"]`}
				if diff := cmp.Diff(want, summary(list)); diff != "" {
					t.Errorf("findings (-want +got):\n%s", diff)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Labels["l"]; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestInterpolateWhere(t *testing.T) {
	lookup := func(string) (string, bool) { return "x", true }
	m := decodeString(t, `
x-ignored: ${BROKEN
labels: {"${K}": "${V}"}
ports: ["${P:-80}80"]
entries:
  plain: {type: file, content: "${V}", description: "${V}"}
  asked: {type: file, interpolate: true, content: "${V}"}
  d: {type: dir, children: {f: {type: file, content: "$${V}"}}}
`, DecodeOptions{Lookup: func(name string) (string, bool) {
		if name == "P" {
			return "", false
		}
		return lookup(name)
	}})
	file := func(i int) *File { return m.Flatten()[i].Entry.(*File) }
	got := []any{m.Labels, m.Ports[0].Port, string(file(0).Content), file(0).Description, string(file(1).Content), string(file(3).Content)}
	want := []any{map[string]string{"${K}": "x"}, 8080, "${V}", "x", "x", "$${V}"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestInterpolateIsBounded(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	doc := "labels: {l: \"" + strings.Repeat("${V}", 17) + "\"}\n"
	_, list, _ := Decode(strings.NewReader(doc), DecodeOptions{Lookup: func(string) (string, bool) { return big, true }})
	if len(list) != 1 || list[0].Code != CodeTooLarge {
		t.Errorf("got %v, want %s", summary(list), CodeTooLarge)
	}
}
