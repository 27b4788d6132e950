package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A real engine gets the secrets in the container's environment, and nothing
// else that can be asked for has them: not the plan, the output, the image, the
// labels, the caches, or the error of a clone that prints them.
func TestSecretsStayInTheEnvironment(t *testing.T) {
	const token, cert = "e2e-hunter22", "e2e-certificate"
	c := newCLI(t)
	c.env = append(c.env, "E2E_TOKEN="+token)
	write(t, c.dir, "cert.pem", cert+"\n")
	write(t, c.dir, "workspace.yaml", `
secrets: {token: {env: E2E_TOKEN}, cert: {file: cert.pem}}
environment:
  TOKEN: {secret: token}
  CERT: {secret: cert, ephemeral: true}
entries: {a.txt: {type: file, content: hello}}
`)
	name := unique(t)
	removeLater(t, name)
	var seen []string
	for _, args := range [][]string{
		{"plan", "--name", name},
		{"plan", "--name", name, "--format", "json"},
		{"apply", "--name", name, "--strategy", "image", "--progress", "rawjson"},
		{"inspect", name},
		{"ls", "--format", "json"},
		{"config"},
	} {
		out := c.run(t, args...)
		if out.code != 0 {
			t.Fatalf("%q: exit code %d: %s", args, out.code, out.stderr)
		}
		seen = append(seen, out.stdout, out.stderr)
	}
	if got := c.must(t, "exec", name, "sh", "-c", "echo $TOKEN $CERT"); got != token+" "+cert+"\n" {
		t.Errorf("the environment has %q", got)
	}
	image := c.must(t, "inspect", "--format", "{{.Image}}", name)
	for _, args := range [][]string{
		{"image", "inspect", strings.TrimSpace(image)},
		{"history", "--no-trunc", strings.TrimSpace(image)},
		{"inspect", "--format", "{{json .Config.Labels}} {{json .HostConfig}} {{json .Args}}", name},
		{"top", name},
	} {
		out, err := exec.CommandContext(t.Context(), "docker", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("docker %q: %v: %s", args, err, out)
		}
		seen = append(seen, string(out))
	}
	seen = append(seen, cached(t, c)...)

	write(t, c.dir, "broken.yaml", `
secrets: {token: {env: E2E_TOKEN}}
environment: {TOKEN: {secret: token}}
entries: {src: {type: git_repo, url: "https://127.0.0.1:1/e2e-hunter22.git"}}
`)
	out := c.run(t, "apply", "-f", "broken.yaml", "--name", name+"-broken", "--progress", "rawjson")
	if out.code == 0 || !strings.Contains(out.stderr, "[redacted]") {
		t.Errorf("a clone from nowhere ended with %d: %s", out.code, out.stderr)
	}
	seen = append(seen, out.stdout, out.stderr)
	nothingLeft(t, name+"-broken")
	for _, text := range seen {
		if strings.Contains(text, token) || strings.Contains(text, cert) {
			t.Errorf("a secret is in %s", text)
		}
	}
}

// cached is the content of all files that commands keep for later.
func cached(t *testing.T, c cli) []string {
	t.Helper()
	var all []string
	for _, v := range c.env {
		dir, ok := strings.CutPrefix(v, "XDG_CACHE_HOME=")
		if !ok {
			continue
		}
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			all = append(all, string(content))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Host paths are mounted where grants say, the deeper over the shallower, and
// what is read-only is so.
func TestGrantsAreMounted(t *testing.T) {
	c := newCLI(t)
	write(t, c.dir, "data/tools/x", "of data")
	write(t, c.dir, "tools/x", "of tools")
	write(t, c.dir, "workspace.yaml", `
extra_path_grants:
  - {path: /opt/data/tools, host_path: "${E2E_DIR}/tools", read_only: true}
  - {path: /opt/data, host_path: "${E2E_DIR}/data"}
`)
	c.env = append(c.env, "E2E_DIR="+c.dir)
	name := unique(t)
	c.apply(t, name)
	got := c.must(t, "exec", name, "sh", "-c", "cat /opt/data/tools/x; echo new > /opt/data/y; echo no 2>/dev/null > /opt/data/tools/x || echo ' read-only'")
	if got != "of tools read-only\n" {
		t.Errorf("the workspace saw %q", got)
	}
	if content, err := os.ReadFile(filepath.Join(c.dir, "data", "y")); err != nil || string(content) != "new\n" {
		t.Errorf("the host got %q, %v", content, err)
	}
}
