package materialize_test

import (
	"archive/tar"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
)

const (
	basePasswd = "root:x:0:0:root:/root:/bin/bash\n# a comment\nuser:x:1000:1000::/home/user:/bin/sh\n"
	baseGroup  = "root:x:0:\nuser:x:1000:\nstaff:x:50:user\n+::"
)

func accounts(t *testing.T, m *manifest.Manifest) (*materialize.Accounts, error) {
	t.Helper()
	return materialize.NewAccounts(
		materialize.AccountFile{Header: &tar.Header{Mode: 0o600, Gid: 42}, Content: []byte(basePasswd)},
		materialize.AccountFile{Header: &tar.Header{Mode: 0o644}, Content: []byte(baseGroup)}, m)
}

func TestAccountsAddToTheBase(t *testing.T) {
	a, err := accounts(t, &manifest.Manifest{
		Groups: []manifest.Group{{Name: "dev", Users: []string{"alice", "user"}}, {Name: "ops", GID: new(2000)}},
		Users: []manifest.User{
			{Name: "alice", Groups: []string{"staff"}},
			{Name: "bob", UID: new(1500), Home: "/srv/bob", Shell: "/bin/bash"},
			{Name: "user"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	entries := a.Entries()
	content := func(i int) string {
		r, err := entries[i].Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil || int64(len(b)) != entries[i].Size {
			t.Fatalf("%d bytes of %d, %v", len(b), entries[i].Size, err)
		}
		return string(b)
	}
	// dev has the first free gid; alice the first id that is free as both.
	wantPasswd := basePasswd + "alice:x:1002:1002::/home/alice:/bin/sh\nbob:x:1500:1500::/srv/bob:/bin/bash\n"
	wantGroup := "root:x:0:\nuser:x:1000:\nstaff:x:50:user,alice\n+::\ndev:x:1001:alice,user\nops:x:2000:\nalice:x:1002:\nbob:x:1500:\n"
	if diff := cmp.Diff(wantPasswd, content(0)); diff != "" {
		t.Errorf("passwd (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantGroup, content(1)); diff != "" {
		t.Errorf("group (-want +got):\n%s", diff)
	}
	if e := entries[0]; e.Name != "etc/passwd" || e.Mode != 0o600 || e.GID != 42 {
		t.Errorf("passwd is %+v: it keeps the base's mode and owner", e)
	}
	homes := entries[2:]
	if len(homes) != 2 || homes[0].Name != "home/alice" || homes[0].UID != 1002 || homes[1].Name != "srv/bob" || homes[1].GID != 1500 {
		t.Errorf("homes are %+v", homes)
	}
}

func TestAccountsThatTheBaseHas(t *testing.T) {
	a, err := accounts(t, &manifest.Manifest{
		Users:  []manifest.User{{Name: "user", UID: new(1000), Home: "/home/user"}},
		Groups: []manifest.Group{{Name: "staff", GID: new(50), Users: []string{"user"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if entries := a.Entries(); entries != nil {
		t.Errorf("nothing is new, yet there are entries: %+v", entries)
	}
}

func TestAccountConflicts(t *testing.T) {
	tests := map[string]struct {
		m        manifest.Manifest
		conflict bool
		want     string
	}{
		"another uid":    {manifest.Manifest{Users: []manifest.User{{Name: "user", UID: new(7)}}}, true, `user "user" has uid 1000 in the base image, not 7: leave it out or rename the user: account conflict`},
		"another home":   {manifest.Manifest{Users: []manifest.User{{Name: "user", Home: "/x"}}}, true, `user "user" has home /home/user in the base image, not /x: leave it out or rename the user: account conflict`},
		"a taken uid":    {manifest.Manifest{Users: []manifest.User{{Name: "eve", UID: new(0)}}}, true, `user "eve": uid 0 already belongs to user "root": account conflict`},
		"another gid":    {manifest.Manifest{Groups: []manifest.Group{{Name: "staff", GID: new(7)}}}, true, `group "staff" has gid 50 in the base image, not 7: leave gid out or rename the group: account conflict`},
		"a taken gid":    {manifest.Manifest{Groups: []manifest.Group{{Name: "dev", GID: new(50)}}}, true, `group "dev": gid 50 already belongs to group "staff": account conflict`},
		"unknown member": {manifest.Manifest{Groups: []manifest.Group{{Name: "dev", Users: []string{"nobody"}}}}, false, `group "dev": user "nobody" is neither declared in users nor known to the base image`},
		"unknown group":  {manifest.Manifest{Users: []manifest.User{{Name: "eve", Groups: []string{"dev"}}}}, false, `user "eve": group "dev" is neither declared in groups nor known to the base image`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := accounts(t, &tt.m)
			if err == nil || err.Error() != tt.want || errors.Is(err, materialize.ErrAccount) != tt.conflict {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestOwners(t *testing.T) {
	a, err := accounts(t, &manifest.Manifest{Users: []manifest.User{{Name: "alice", UID: new(1500)}}})
	if err != nil {
		t.Fatal(err)
	}
	otherwise := materialize.Owner{UID: 7, GID: 8}
	tests := map[string]struct {
		owner, group string
		want         materialize.Owner
	}{
		"nobody in particular":      {"", "", otherwise},
		"a declared user":           {"alice", "", materialize.Owner{UID: 1500, GID: 1500}},
		"a user of the base":        {"user", "staff", materialize.Owner{UID: 1000, GID: 50}},
		"only a group":              {"", "staff", materialize.Owner{UID: 7, GID: 50}},
		"a number that has a name":  {"1000", "", materialize.Owner{UID: 1000, GID: 1000}},
		"numbers that have no name": {"4242", "4343", materialize.Owner{UID: 4242, GID: 4343}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := a.Owner(otherwise, tt.owner, tt.group)
			if err != nil || got != tt.want {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
		})
	}
	if _, err := a.Owner(otherwise, "nobody", ""); err == nil {
		t.Error("an unknown user is accepted")
	}
	if got, err := a.RunAs("1000:50"); err != nil || got != (materialize.Owner{UID: 1000, GID: 50}) {
		t.Errorf("run_as 1000:50 is %v, %v", got, err)
	}
}
