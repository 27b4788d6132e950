package plan

import (
	"strings"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
)

// A Stage is a run of entries that may be written together. Stages follow one
// another; within a stage of files the later entry wins, within a stage of
// clones no two destinations touch.
type Stage struct {
	// Git says that the stage clones repositories; otherwise it writes files.
	Git bool
	// Entries are in declaration order.
	Entries []manifest.KeyedEntry
}

// Stages groups flattened entries into as few stages as the contract allows.
// Files and clones alternate, beginning with files. An entry moves ahead of a
// clone that was declared before it only when the two do not overlap, so that
// what a later entry puts into a clone lands after it. Mounts are left out:
// they are attached, not written.
func Stages(entries []manifest.KeyedEntry) []Stage {
	var stages []Stage
	var early, late []placed
	for _, e := range entries {
		if isMount(e.Entry) {
			continue
		}
		p := placed{path: e.Path, git: isGit(e.Entry)}
		// Files can only be pushed back by what is itself late, so a manifest
		// without clones is staged in one pass.
		p.stage = after(late, p)
		if p.git {
			p.stage = max(p.stage, after(early, p))
		}
		if p.stage == 0 {
			early = append(early, p)
		} else {
			late = append(late, p)
		}
		for len(stages) <= p.stage {
			stages = append(stages, Stage{Git: len(stages)%2 == 1})
		}
		stages[p.stage].Entries = append(stages[p.stage].Entries, e)
	}
	return stages
}

type placed struct {
	path  string
	git   bool
	stage int
}

// after returns the first stage of p's kind that follows every earlier entry
// which p overlaps. Files may share a stage with files; clones may not share
// one with anything that they overlap.
func after(earlier []placed, p placed) int {
	stage := 0
	if p.git {
		stage = 1
	}
	for _, e := range earlier {
		if !Overlap(p.path, e.path) {
			continue
		}
		next := e.stage
		if p.git || e.git {
			next++
		}
		if p.git && e.git {
			next++
		}
		stage = max(stage, next)
	}
	return stage
}

// Overlap reports whether one of two clean paths equals or contains the other,
// by whole components: "a" and "ab" do not overlap.
func Overlap(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || strings.HasPrefix(b, a) && b[len(a)] == '/'
}

func isGit(e manifest.Entry) bool {
	_, ok := e.(*manifest.GitRepo)
	return ok
}

func isMount(e manifest.Entry) bool {
	switch e.(type) {
	case *manifest.S3Mount, *manifest.GCSMount, *manifest.R2Mount, *manifest.AzureBlobMount,
		*manifest.BoxMount, *manifest.S3FilesMount, *manifest.VolumeMount:
		return true
	}
	return false
}
