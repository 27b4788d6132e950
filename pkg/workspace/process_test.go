package workspace_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docker-workspace/docker-workspace/pkg/engine/enginetest"
	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/plan"
	"github.com/docker-workspace/docker-workspace/pkg/workspace"
)

func TestProcessorsDecideWhatIsPlanned(t *testing.T) {
	fake, client := start(t, enginetest.Options{})
	var held *manifest.Manifest
	add := func(_ context.Context, m *manifest.Manifest) error {
		m.Entries = append(m.Entries, manifest.KeyedEntry{Path: "b.txt", Entry: &manifest.File{Content: []byte("added")}})
		held = m
		return nil
	}
	client.Events = func(workspace.Event) {
		if held != nil { // what a processor keeps has no effect any more
			held.Entries[1].Entry.(*manifest.File).Content = []byte("too late")
		}
	}
	m := decode(t, "name: ws\nentries: {a.txt: {type: file, content: a}}\n")
	opts := workspace.ApplyOptions{Processors: []manifest.Processor{add}}
	p, err := client.Plan(t.Context(), m, opts)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(p.Operations, func(op plan.Operation) bool { return strings.Contains(op.Detail, "2 entries") }) {
		t.Errorf("the plan does not have the entry: %+v", p.Operations)
	}
	if _, err := client.Apply(t.Context(), m, opts); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"workspace/a.txt": "a", "workspace/b.txt": "added"}
	if diff := cmp.Diff(want, files(fake.Container("ws"))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if len(m.Entries) != 1 {
		t.Errorf("the caller's manifest has %d entries", len(m.Entries))
	}
}

func TestProcessorThatFailsLeavesNothing(t *testing.T) {
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		process manifest.Processor
		want    error
	}{
		"error":   {func(context.Context, *manifest.Manifest) error { return broken }, broken},
		"invalid": {func(_ context.Context, m *manifest.Manifest) error { m.Root = "/"; return nil }, manifest.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			fake, client := start(t, enginetest.Options{})
			_, err := client.Apply(t.Context(), decode(t, "name: ws\n"), workspace.ApplyOptions{Processors: []manifest.Processor{tt.process}})
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if left := fake.Containers(); len(left) != 0 {
				t.Errorf("left %q", left)
			}
		})
	}
}
