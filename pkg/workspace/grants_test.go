package workspace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/engine/enginetest"
	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
	"github.com/docker-workspace/docker-workspace/pkg/workspace"
)

// mounts are those of the last container that was created, one per line.
func mounts(t *testing.T, fake *enginetest.Engine) string {
	t.Helper()
	var body struct {
		HostConfig struct {
			Mounts []struct {
				Type, Source, Target string
				ReadOnly             bool
			}
		}
	}
	for _, r := range fake.Requests() {
		if r.Path == "/containers/create" {
			if err := json.Unmarshal(r.Body, &body); err != nil {
				t.Fatal(err)
			}
		}
	}
	var out strings.Builder
	for _, m := range body.HostConfig.Mounts {
		fmt.Fprintf(&out, "%s %s at %s", m.Type, m.Source, m.Target)
		if m.ReadOnly {
			out.WriteString(" read-only")
		}
		out.WriteString("\n")
	}
	return out.String()
}

// hostTree has the directories data and tools, and the links to-data and to-root.
func hostTree(t *testing.T) string {
	t.Helper()
	host, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"data", "tools"} {
		if err := os.Mkdir(filepath.Join(host, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"to-data": "data", "to-root": "/", "to-link": "to-root", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(host, name)); err != nil {
			t.Fatal(err)
		}
	}
	return host
}

func TestGrantsAreMounted(t *testing.T) {
	fake, client := start(t, enginetest.Options{})
	host := hostTree(t)
	m := decode(t, fmt.Sprintf(`
name: ws
extra_path_grants:
  - {path: /opt/data/tools, host_path: %[1]s/tools, read_only: true}
  - {path: /srv/only-allowed}
  - {path: /opt/data, host_path: %[1]s/to-data}
`, host))
	opts := workspace.ApplyOptions{BaseDir: t.TempDir()}
	p, err := client.Plan(t.Context(), m, opts)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := p.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	shown := fmt.Sprintf("grant /opt/data/tools <- %[1]s/tools (read-only)\ngrant /srv/only-allowed\ngrant /opt/data <- %[1]s/to-data\n", host)
	if !strings.HasSuffix(text.String(), shown) {
		t.Errorf("the plan is\n%s", text.String())
	}
	if _, err := client.Apply(t.Context(), m, opts); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("bind %[1]s/data at /opt/data\nbind %[1]s/tools at /opt/data/tools read-only\n", host)
	if diff := cmp.Diff(want, mounts(t, fake)); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
}

func TestRefusedGrants(t *testing.T) {
	host := hostTree(t)
	tests := map[string]struct {
		grants []manifest.PathGrant
		reason string // of a GrantError or a finding
		want   string
	}{
		"relative":                   {[]manifest.PathGrant{{Path: "opt", HostPath: host}}, manifest.CodeInvalidValue, "is not absolute"},
		"the root":                   {[]manifest.PathGrant{{Path: "/", HostPath: host}}, manifest.CodeInvalidValue, "root of the file system"},
		"with ..":                    {[]manifest.PathGrant{{Path: "/opt/../etc", HostPath: host}}, manifest.ReasonEscapeRoot, `has a ".." component`},
		"the workspace":              {[]manifest.PathGrant{{Path: "/workspace", HostPath: host}}, manifest.CodeConflict, "overlaps the root"},
		"in the workspace":           {[]manifest.PathGrant{{Path: "/workspace/a", HostPath: host}}, manifest.CodeConflict, "overlaps the root"},
		"around the workspace":       {[]manifest.PathGrant{{Path: "/work", HostPath: host}}, manifest.CodeConflict, "overlaps the root"},
		"one target twice":           {[]manifest.PathGrant{{Path: "/opt", HostPath: host}, {Path: "/opt", HostPath: host + "/data"}}, manifest.CodeDuplicate, "granted twice"},
		"mounted and not":            {[]manifest.PathGrant{{Path: "/opt", HostPath: host}, {Path: "/opt"}}, manifest.CodeDuplicate, "granted twice"},
		"a relative host path":       {[]manifest.PathGrant{{Path: "/opt", HostPath: "data"}}, manifest.CodeInvalidValue, "is not absolute"},
		"a host path with ..":        {[]manifest.PathGrant{{Path: "/opt", HostPath: host + "/../x"}}, manifest.ReasonEscapeRoot, `has a ".." component`},
		"the host's root":            {[]manifest.PathGrant{{Path: "/opt", HostPath: "/"}}, manifest.CodeInvalidValue, "root of the file system"},
		"a missing host path":        {[]manifest.PathGrant{{Path: "/opt", HostPath: host + "/no"}}, materialize.PathNotFound, "does not exist on this host"},
		"a link to the host's root":  {[]manifest.PathGrant{{Path: "/opt", HostPath: host + "/to-root"}}, materialize.GrantIsRoot, "root of the host's file system"},
		"a link to such a link":      {[]manifest.PathGrant{{Path: "/opt", HostPath: host + "/to-link"}}, materialize.GrantIsRoot, "root of the host's file system"},
		"links in a circle":          {[]manifest.PathGrant{{Path: "/opt", HostPath: host + "/loop"}}, materialize.Unreadable, "too many links"},
		"only allowed, lands on /":   {[]manifest.PathGrant{{Path: host + "/to-root"}}, materialize.GrantIsRoot, "root of the host's file system"},
		"without access to the host": {[]manifest.PathGrant{{Path: "/opt", HostPath: host}}, materialize.HostAccessDenied, "may not use paths of the host"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			fake, client := start(t, enginetest.Options{})
			m := decode(t, "name: ws")
			if name == "around the workspace" {
				m.Root = "/work/space"
			}
			m.ExtraPathGrants = tt.grants
			opts := workspace.ApplyOptions{BaseDir: t.TempDir()}
			if tt.reason == materialize.HostAccessDenied {
				opts.BaseDir = ""
			}
			_, err := client.Apply(t.Context(), m, opts)
			reason := ""
			if refused, ok := errors.AsType[*materialize.GrantError](err); ok {
				reason = refused.Reason
			} else if invalid, ok := errors.AsType[*manifest.InvalidError](err); ok {
				reason = invalid.Findings[0].Code
			}
			if reason != tt.reason || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("apply gave %v (%s), want %s", err, reason, tt.reason)
			}
			if got := fake.Requests(); len(got) > 0 {
				t.Errorf("the engine was asked %v", got)
			}
		})
	}
}

// What only the base image tells is refused before anything is made of it.
func TestGrantsThatTheBaseLeadsAstray(t *testing.T) {
	host := hostTree(t)
	image := enginetest.Image{Ref: baseRef, Cmd: []string{"sh"}, Layers: [][]byte{enginetest.Tar(
		enginetest.File{Name: "bin/sleep", Mode: 0o755},
		enginetest.File{Name: "etc", Type: '5'},
		enginetest.File{Name: "up", Type: '2', Linkname: "opt/.."},
		enginetest.File{Name: "opt", Type: '5'},
		enginetest.File{Name: "opt/back", Type: '2', Linkname: "../alias"},
		enginetest.File{Name: "alias", Type: '2', Linkname: "/workspace/sub"},
		enginetest.File{Name: "round", Type: '2', Linkname: "round"},
	)}}
	tests := map[string]struct {
		path, users string
		reason      string // "" is fine, "-" another error
		want        string
	}{
		"nothing there":              {"/opt/new/deep", "", "", ""},
		"a link to the root":         {"/up", "", materialize.GrantIsRoot, "the root of the file system"},
		"below a link to the root":   {"/up/opt/new", "", "", ""},
		"links into the workspace":   {"/opt/back/x", "", materialize.GrantConflict, "make it /workspace/sub/x, which overlaps the root /workspace"},
		"links in a circle":          {"/round/x", "", "-", "more than 64 links"},
		"where accounts are kept":    {"/etc", "users: [{name: alice}]", materialize.GrantConflict, "needs a /etc/passwd of its own there"},
		"over an account file":       {"/etc/group", "users: [{name: alice}]", materialize.GrantConflict, "needs a /etc/group of its own there"},
		"/etc when nothing is there": {"/etc", "", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			fake, client := start(t, enginetest.Options{Images: []enginetest.Image{image}})
			m := decode(t, fmt.Sprintf("name: ws\n%s\nextra_path_grants: [{path: %s, host_path: %s/data}]\n", tt.users, tt.path, host))
			_, err := client.Apply(t.Context(), m, workspace.ApplyOptions{BaseDir: t.TempDir()})
			refused, _ := errors.AsType[*materialize.GrantError](err)
			switch {
			case tt.reason == "" && err != nil, tt.reason != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("apply gave %v", err)
			case strings.HasPrefix(tt.reason, "grant") && (refused == nil || refused.Reason != tt.reason):
				t.Errorf("apply gave %v, want reason %s", err, tt.reason)
			}
			if err != nil {
				nothingLeft(t, fake, []string{baseRef})
			}
		})
	}
}

// The host of an engine elsewhere has paths of its own, which cannot be looked
// at from here.
func TestGrantsOnAnEngineElsewhere(t *testing.T) {
	fake, _ := start(t, enginetest.Options{})
	eng, err := engine.New(engine.Options{
		Host: "tcp://engine.example:2375",
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", strings.TrimPrefix(fake.Host(), "unix://"))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	client := &workspace.Client{Engine: eng}
	m := decode(t, "name: ws\nextra_path_grants: [{path: /opt/data, host_path: /no/such/path}]\n")
	opts := workspace.ApplyOptions{BaseDir: t.TempDir()}
	p, err := client.Plan(t.Context(), m, opts)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`grant "/opt/data": host path "/no/such/path" is a path of the host of engine tcp://engine.example:2375, not of this one`}
	if diff := cmp.Diff(want, p.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	_, err = client.Apply(t.Context(), m, opts)
	if err == nil || !strings.Contains(err.Error(), "bind source path does not exist: /no/such/path") {
		t.Errorf("apply gave %v", err)
	}
	nothingLeft(t, fake, []string{baseRef})
}
