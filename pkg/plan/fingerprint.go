package plan

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
)

const entryPrefix = "entry "

// Fingerprints maps every part of a manifest, "entry PATH" or a top-level
// field's name, to a short digest of it. Kept beside a container it can tell
// what changed since, without keeping the manifest's content there.
func Fingerprints(m *manifest.Manifest) (map[string]string, error) {
	parts, err := m.Parts()
	if err != nil {
		return nil, err
	}
	prints := make(map[string]string, len(parts))
	for _, p := range parts {
		key := p.Field
		if p.Path != "" {
			key = entryPrefix + p.Path
		}
		prints[key] = short(p.Value)
	}
	return prints, nil
}

// Nine bytes make an accidental match less likely than a broken disk, and a
// thousand entries small enough for a label.
func short(b []byte) string {
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// Changes says in sorted, readable words how two sets of fingerprints differ.
func Changes(before, after map[string]string) []string {
	var changes []string
	for _, part := range slices.Sorted(maps.Keys(after)) {
		old, had := before[part]
		switch {
		case !had && strings.HasPrefix(part, entryPrefix):
			changes = append(changes, part+" added")
		case old != after[part]:
			changes = append(changes, part+" changed")
		}
	}
	for _, part := range slices.Sorted(maps.Keys(before)) {
		if _, has := after[part]; has {
			continue
		}
		if strings.HasPrefix(part, entryPrefix) {
			changes = append(changes, part+" removed")
		} else {
			changes = append(changes, part+" changed")
		}
	}
	if len(changes) == 0 {
		changes = append(changes, "the order of entries changed")
	}
	slices.Sort(changes)
	return changes
}
