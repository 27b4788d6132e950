package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDecodeEnvironment(t *testing.T) {
	p := func(s string) *string { return &s }
	tests := []struct {
		name, doc string
		want      []EnvVar
	}{
		{"strings and numbers as written", `{B: x, A: 010, C: 1.10, D: 0x1F, E: 1e3}`, []EnvVar{
			{Name: "A", Value: p("010")}, {Name: "B", Value: p("x")}, {Name: "C", Value: p("1.10")}, {Name: "D", Value: p("0x1F")}, {Name: "E", Value: p("1e3")},
		}},
		{"tagged", `{A: {type: str, value: x}}`, []EnvVar{{Name: "A", Value: p("x")}}},
		{"entry", `{A: {value: {type: str, value: x}, description: d, ephemeral: true}}`, []EnvVar{{Name: "A", Value: p("x"), Description: "d", Ephemeral: true}}},
		{"secret", `{A: {secret: s}}`, []EnvVar{{Name: "A", Secret: "s"}}},
		{"entry of a secret", `{A: {value: {secret: s}, ephemeral: true}}`, []EnvVar{{Name: "A", Secret: "s", Ephemeral: true}}},
		{"caller's", `{A: {type: env, name: B}}`, []EnvVar{{Name: "A", FromEnv: "B"}}},
		{"caller's with default", `{A: {type: env, name: B, default: 1}}`, []EnvVar{{Name: "A", FromEnv: "B", Default: p("1")}}},
		{"of the OpenAI SDK", `{value: {A: "1"}}`, []EnvVar{{Name: "A", Value: p("1")}}},
		{"of the ADK", `{variables: {A: "1"}}`, []EnvVar{{Name: "A", Value: p("1")}}},
		{"variables of such names", `{value: x, variables: y}`, []EnvVar{{Name: "value", Value: p("x")}, {Name: "variables", Value: p("y")}}},
		{"empty", `{value: {}}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := decodeString(t, "secrets: {s: {env: S}}\nenvironment: "+tt.doc+"\n", DecodeOptions{})
			if diff := cmp.Diff(tt.want, m.Environment, cmpopts.IgnoreTypes(Position{})); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVariablesHavePositions(t *testing.T) {
	m, _, err := Decode(strings.NewReader("environment:\n  B: x\n  A:\n    secret: s\nsecrets: {s: {env: S}}\n"), DecodeOptions{Filename: "w.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Position{{File: "w.yaml", Line: 3, Column: 3}, {File: "w.yaml", Line: 2, Column: 3}} {
		if got := m.Environment[i].Pos; got != want {
			t.Errorf("%s is at %v, want %v", m.Environment[i].Name, got, want)
		}
	}
}

func TestDecodeEnvironmentRefuses(t *testing.T) {
	tests := []struct {
		name, doc string
		want      []string
	}{
		{"boolean", `{A: true}`, []string{`1:18 wrong_type environment["A"]`}},
		{"null", `{A: }`, []string{`1:18 wrong_type environment["A"]`}},
		{"list", `{A: []}`, []string{`1:18 wrong_type environment["A"]`}},
		{"boolean in the SDK's map", `{variables: {A: true}}`, []string{`1:30 wrong_type environment["A"]`}},
		{"unknown kind", `{A: {type: vault, value: x}}`, []string{`1:25 unknown_type environment["A"].type`}},
		{"unknown key", `{A: {valeu: x}}`, []string{`1:19 unknown_key environment["A"].valeu`}},
		{"no value", `{A: {type: str}}`, []string{`1:18 missing environment["A"]`}},
		{"no name", `{A: {type: env}}`, []string{`1:18 missing environment["A"]`}},
		{"default without kind", `{A: {value: x, default: y}}`, []string{`1:18 conflict environment["A"]`}},
		{"nothing", `{A: {}}`, []string{`1:15 conflict environment["A"]`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, list, _ := Decode(strings.NewReader("environment: "+tt.doc+"\n"), DecodeOptions{})
			if diff := cmp.Diff(tt.want, summary(list)); diff != "" {
				t.Errorf("findings (-want +got):\n%s%v", diff, list)
			}
		})
	}
}

func TestEnvironmentErrorNamesTheVariable(t *testing.T) {
	_, _, err := Decode(strings.NewReader("environment: {DEBUG: true}\n"), DecodeOptions{Filename: "w.yaml"})
	want := `w.yaml:1:22: environment["DEBUG"]: environment variable DEBUG is a boolean, not a string (quote it: "true")`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
