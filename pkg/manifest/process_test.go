package manifest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// kept is a manifest that has everything a copy could share.
const kept = `
name: a
labels: {l: x}
users: [{name: u, uid: 1, groups: [g]}]
groups: [{name: g}]
environment: {A: x}
command: [a]
init: true
resources: {ulimits: {nofile: 1}, cpus: 2}
entries:
  d: {type: dir, children: {f: {type: file, content: x, mode: "0600"}}}
  m: {type: s3_mount, bucket: b, mount_strategy: {type: docker_volume, driver_options: {a: b}}}
`

func TestProcess(t *testing.T) {
	m := decodeString(t, kept, DecodeOptions{})
	before := decodeString(t, kept, DecodeOptions{})
	var held *Manifest
	done, err := m.Process(t.Context(),
		func(_ context.Context, m *Manifest) error {
			m.Labels["l"] = "first"
			m.Users[0].Groups[0] = "other"
			*m.Users[0].UID = 2
			m.Entries[0].Entry.(*Dir).Children[0].Entry.(*File).Content[0] = 'y'
			m.Entries[1].Entry.(*S3Mount).Strategy.(*DockerVolume).DriverOptions["a"] = "c"
			return nil
		},
		func(_ context.Context, m *Manifest) error {
			m.Labels["l"] += ", second"
			held = m
			return nil
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, m); diff != "" {
		t.Errorf("the manifest itself was changed (-before +after):\n%s", diff)
	}
	held.Labels["l"] = "too late"
	held.Entries[0].Entry.(*Dir).Children[0].Entry.(*File).Content[0] = 'z'
	got := []string{done.Labels["l"], string(done.Flatten()[1].Entry.(*File).Content), done.Users[0].Groups[0]}
	if diff := cmp.Diff([]string{"first, second", "y", "other"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProcessFails(t *testing.T) {
	broken := errors.New("broken")
	fail := func(context.Context, *Manifest) error { return broken }
	unreached := func(context.Context, *Manifest) error { t.Error("a later processor ran"); return nil }
	m := decodeString(t, kept, DecodeOptions{})
	if _, err := m.Process(t.Context(), fail, unreached); !errors.Is(err, broken) || !strings.Contains(err.Error(), "processor 1") {
		t.Errorf("error of a processor became %v", err)
	}
}
