package workspace_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docker-workspace/docker-workspace/pkg/engine/enginetest"
	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
	"github.com/docker-workspace/docker-workspace/pkg/plan"
	"github.com/docker-workspace/docker-workspace/pkg/workspace"
)

// What no text may have in it.
const (
	tokenValue = "tok/en hunter22"
	certValue  = "-----BEGIN CERT-----\nQUJDREVGR0hJSktM\n-----END CERT-----"
)

const withSecrets = `
name: ws
secrets:
  token: {env: GH_TOKEN}
  cert: {file: cert.pem}
  unused: {file: nowhere}
environment:
  TOKEN: {secret: token}
  AGAIN: {secret: token}
  CERT: {value: {secret: cert}, ephemeral: true}
  REGION: {type: env, name: AWS_REGION, default: nowhere}
  EDITOR: {type: env, name: EDITOR}
  PLAIN: "1"
entries:
  a.txt: {type: file, content: hello}
  src: {type: git_repo, url: "git://example.com/r.git"}
`

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

// secretive is what applies withSecrets.
func secretive(t *testing.T) workspace.ApplyOptions {
	t.Helper()
	base := t.TempDir()
	if err := os.WriteFile(filepath.Join(base, "cert.pem"), []byte(certValue+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return workspace.ApplyOptions{BaseDir: base, LookupEnv: lookup(map[string]string{"GH_TOKEN": tokenValue, "EDITOR": "vi"})}
}

// noSecret fails the test when a text has a secret in it, in any spelling.
func noSecret(t *testing.T, where string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		for _, secret := range []string{
			"hunter22", "tok/en", `tok\/en`, base64.StdEncoding.EncodeToString([]byte(tokenValue)), "BEGIN CERT", "QUJDREVGR0hJSktM",
		} {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %q in it: %s", where, secret, text)
			}
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// recordEvents keeps what a client reports.
func recordEvents(client *workspace.Client) (all func() []workspace.Event) {
	var mu sync.Mutex
	var events []workspace.Event
	client.Events = func(e workspace.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	}
	return func() []workspace.Event {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(events)
	}
}

func TestSecretsAreInTheEnvironmentAlone(t *testing.T) {
	for _, strategy := range []plan.Strategy{plan.Copy, plan.Image} {
		t.Run(string(strategy), func(t *testing.T) {
			fake, client := start(t, enginetest.Options{})
			events := recordEvents(client)
			m, opts := decode(t, withSecrets), secretive(t)
			opts.Strategy = strategy
			planned, err := client.Plan(t.Context(), m, opts)
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			if err := planned.WriteText(&text); err != nil {
				t.Fatal(err)
			}
			result, err := client.Apply(t.Context(), m, opts)
			if err != nil {
				t.Fatal(err)
			}
			c, err := client.Engine.InspectContainer(t.Context(), "ws")
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"AGAIN=" + tokenValue, "CERT=" + certValue, "EDITOR=vi", "PLAIN=1", "REGION=nowhere", "TOKEN=" + tokenValue}
			if diff := cmp.Diff(want, c.Env[:len(want)]); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
			image, err := client.Engine.InspectImage(t.Context(), result.Image.Reference)
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(image.Config.Env, func(v string) bool { return strings.HasPrefix(v, "REGION=") || strings.HasPrefix(v, "EDITOR=") }) {
				t.Errorf("the image has what only its caller knows: %q", image.Config.Env)
			}
			list, err := client.List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			noSecret(t, "the plan", text.String(), asJSON(t, planned))
			noSecret(t, "the result", asJSON(t, result))
			noSecret(t, "an event", asJSON(t, events()))
			noSecret(t, "the image", asJSON(t, image))
			noSecret(t, "a label", asJSON(t, c.Labels))
			noSecret(t, "the list", asJSON(t, list))
			noSecret(t, "a file of the cache", contents(t, client.CacheDir)...)
			requestsWithoutSecret(t, fake)
		})
	}
}

// requestsWithoutSecret looks at all that was sent to the engine: only the
// request that creates the container may have secrets, in its environment.
func requestsWithoutSecret(t *testing.T, fake *enginetest.Engine) {
	t.Helper()
	for _, r := range fake.Requests() {
		body := map[string]any{}
		if len(r.Body) > 0 {
			if err := json.Unmarshal(r.Body, &body); err != nil {
				t.Fatal(err)
			}
		}
		if r.Path == "/containers/create" {
			delete(body, "Env")
		}
		noSecret(t, r.Method+" "+r.Path, asJSON(t, body), r.Query.Encode(), fmt.Sprint(r.Header))
	}
}

func contents(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		all = append(all, path+string(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A program that prints its environment on the way to failing gives nothing
// away, neither when the workspace is made nor when it is resumed.
func TestFailingCloneTellsNoSecret(t *testing.T) {
	failing := true
	tell := func(ctx context.Context, call *enginetest.ExecCall) int {
		if !failing {
			return git(ctx, call)
		}
		for _, v := range call.Env {
			fmt.Fprintln(call.Stderr, "debug:", v)
		}
		_, _ = io.WriteString(call.Stderr, "fatal: unable to fetch\n")
		return 74
	}
	fake, client := start(t, enginetest.Options{Exec: tell})
	events := recordEvents(client)
	m, opts := decode(t, strings.Replace(withSecrets, "type: git_repo", "type: git_repo, ephemeral: true", 1)), secretive(t)
	check := func(when string, err error) {
		t.Helper()
		clone, ok := errors.AsType[*materialize.GitCloneError](err)
		if !ok || !strings.Contains(err.Error(), "fatal: unable to fetch") || !strings.Contains(err.Error(), "TOKEN=[redacted]") {
			t.Fatalf("%s: apply gave %v", when, err)
		}
		noSecret(t, when+": the error", err.Error(), clone.Stderr)
		noSecret(t, when+": an event", asJSON(t, events()))
	}
	_, err := client.Apply(t.Context(), m, opts)
	check("fresh", err)
	failing = false
	if _, err := client.Apply(t.Context(), m, opts); err != nil {
		t.Fatal(err)
	}
	failing = true
	opts.LookupEnv = lookup(map[string]string{"EDITOR": "vi"}) // the secret is not at hand any more
	_, err = client.Apply(t.Context(), m, opts)
	check("resumed", err)
	requestsWithoutSecret(t, fake)
}

func TestEngineTellsNoSecret(t *testing.T) {
	fake, client := start(t, enginetest.Options{})
	fake.Fail("POST", "/containers/create", 500, "bad variable TOKEN="+tokenValue)
	m, opts := decode(t, withSecrets), secretive(t)
	opts.Strategy = plan.Copy
	_, err := client.Apply(t.Context(), m, opts)
	if err == nil || !strings.HasSuffix(err.Error(), "bad variable TOKEN=[redacted]") {
		t.Errorf("apply gave %v", err)
	}
}

func TestMissingSecrets(t *testing.T) {
	big := strings.Repeat("x", workspace.MaxSecret+1)
	tests := map[string]struct {
		secret string // in place of {env: GH_TOKEN}
		env    map[string]string
		noBase bool
		want   string
	}{
		"an unset variable":    {"{env: GH_TOKEN}", nil, false, `read secret "token" from env GH_TOKEN: it is not set here`},
		"a missing file":       {"{file: no.txt}", nil, false, `read secret "token" from file "no.txt": copy host source "no.txt": "no.txt" does not exist in "$BASE" (path_not_found)`},
		"a link":               {"{file: link}", nil, false, "(symlink_not_supported)"},
		"outside":              {"{file: ../cert.pem}", nil, false, "(outside_base_dir)"},
		"a directory":          {"{file: .}", nil, false, "it is a directory"},
		"no access to files":   {"{file: cert.pem}", nil, true, `read secret "token" from file "cert.pem": the manifest may not read files of this host`},
		"too large a file":     {"{file: big}", nil, false, "it has more than 1048576 bytes"},
		"too large a variable": {"{env: GH_TOKEN}", map[string]string{"GH_TOKEN": big}, false, "it has more than 1048576 bytes"},
		"a NUL byte":           {"{file: nul}", nil, false, "it has a NUL byte"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			fake, client := start(t, enginetest.Options{})
			opts := secretive(t)
			opts.LookupEnv = lookup(tt.env)
			for file, content := range map[string]string{"big": big, "nul": "hunter22\x00"} {
				if err := os.WriteFile(filepath.Join(opts.BaseDir, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("cert.pem", filepath.Join(opts.BaseDir, "link")); err != nil {
				t.Fatal(err)
			}
			want := strings.ReplaceAll(tt.want, "$BASE", opts.BaseDir)
			if tt.noBase {
				opts.BaseDir = ""
			}
			m := decode(t, "name: ws\nsecrets: {token: "+tt.secret+"}\nenvironment: {TOKEN: {secret: token}}\n")
			_, err := client.Apply(t.Context(), m, opts)
			secret, ok := errors.AsType[*workspace.SecretError](err)
			if !ok || secret.Name != "token" || !strings.Contains(err.Error(), want) {
				t.Errorf("apply gave %v, want %s", err, want)
			}
			if len(fmt.Sprint(err)) > 1000 || strings.Contains(fmt.Sprint(err), "hunter22") {
				t.Error("the error has the value")
			}
			nothingLeft(t, fake, []string{baseRef})
			if _, err := client.Plan(t.Context(), m, opts); err != nil {
				t.Errorf("a plan, which needs no secret, gave %v", err)
			}
		})
	}
}

func TestSecretFileLosesOneLineBreak(t *testing.T) {
	for content, want := range map[string]string{
		"hunter22": "hunter22", "hunter22\n": "hunter22", "hunter22\r\n": "hunter22", "hunter22\n\n": "hunter22\n", "\n": "", "": "", "a\r": "a\r", " b \n": " b ",
		strings.Repeat("x", workspace.MaxSecret) + "\n": strings.Repeat("x", workspace.MaxSecret),
	} {
		_, client := start(t, enginetest.Options{})
		base := t.TempDir()
		if err := os.WriteFile(filepath.Join(base, "f"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		m := decode(t, "name: ws\nsecrets: {token: {file: f}}\nenvironment: {TOKEN: {secret: token}}\n")
		if _, err := client.Apply(t.Context(), m, workspace.ApplyOptions{BaseDir: base}); err != nil {
			t.Fatal(err)
		}
		c, err := client.Engine.InspectContainer(t.Context(), "ws")
		if err != nil || c.Env[0] != "TOKEN="+want {
			t.Errorf("%.20q became %.40q, %v", content, c.Env[0], err)
		}
	}
}

// All variables that are missing are named at once, where they are asked for.
func TestUnsetVariables(t *testing.T) {
	fake, client := start(t, enginetest.Options{})
	m := decode(t, "name: ws\nenvironment:\n  A: {type: env, name: FIRST}\n  B: {type: env, name: SECOND, default: x}\n  C:\n    type: env\n    name: THIRD\n")
	_, err := client.Plan(t.Context(), m, workspace.ApplyOptions{LookupEnv: lookup(nil)})
	want := `workspace.yaml:3:3: environment["A"]: variable A takes its value from FIRST, which is not set here (set it, or give a default)
workspace.yaml:5:3: environment["C"]: variable C takes its value from THIRD, which is not set here (set it, or give a default)`
	if !errors.Is(err, manifest.ErrInvalid) || err.Error() != want {
		t.Errorf("plan gave %v\nwant %s", err, want)
	}
	if got := fake.Requests(); len(got) > 0 {
		t.Errorf("the engine was asked %v", got)
	}
}

func TestWhatIsDriftOfTheEnvironment(t *testing.T) {
	_, client := start(t, enginetest.Options{})
	m, opts := decode(t, withSecrets), secretive(t)
	if _, err := client.Apply(t.Context(), m, opts); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		document string
		env      map[string]string
		want     []string // nil is no drift
	}{
		"the same":                {withSecrets, map[string]string{"GH_TOKEN": tokenValue, "EDITOR": "vi"}, nil},
		"another secret value":    {withSecrets, map[string]string{"GH_TOKEN": "rotated", "EDITOR": "vi"}, nil},
		"no secret value":         {withSecrets, map[string]string{"EDITOR": "vi"}, nil},
		"another value of ours":   {withSecrets, map[string]string{"EDITOR": "ed"}, []string{"environment EDITOR has another value now"}},
		"instead of a default":    {withSecrets, map[string]string{"EDITOR": "vi", "AWS_REGION": "eu"}, []string{"environment REGION has another value now"}},
		"another source":          {strings.Replace(withSecrets, "env: GH_TOKEN", "env: GL_TOKEN", 1), map[string]string{"EDITOR": "vi"}, []string{"secrets changed"}},
		"another secret":          {strings.Replace(withSecrets, "AGAIN: {secret: token}", "AGAIN: {secret: cert}", 1), map[string]string{"EDITOR": "vi"}, []string{"environment changed"}},
		"a value instead of one":  {strings.Replace(withSecrets, "AGAIN: {secret: token}", "AGAIN: x", 1), map[string]string{"EDITOR": "vi"}, []string{"environment changed"}},
		"another default, unused": {strings.Replace(withSecrets, "default: nowhere", "default: else", 1), map[string]string{"EDITOR": "vi"}, []string{"environment changed"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			opts := opts
			opts.LookupEnv = lookup(tt.env)
			_, err := client.Apply(t.Context(), decode(t, tt.document), opts)
			drift, _ := errors.AsType[*plan.DriftError](err)
			switch {
			case tt.want == nil && err != nil, tt.want != nil && drift == nil:
				t.Errorf("apply gave %v", err)
			case drift != nil && !slices.Equal(drift.Changes, tt.want):
				t.Errorf("changes are %q, want %q", drift.Changes, tt.want)
			}
		})
	}
}
