package plugin

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
)

// hostAccess reports what of a manifest from standard input its caller does not
// allow: whoever wrote it is not the one who called us. With --allow-host-paths
// that is only what links lead elsewhere.
func (l *loaded) hostAccess() error {
	var findings []manifest.Finding
	switch {
	case !l.foreign:
	case l.baseDir == "":
		findings = l.deniedPaths()
	default:
		findings = l.linkedGrants()
	}
	if len(findings) > 0 {
		return &manifest.InvalidError{Findings: findings}
	}
	return nil
}

// deniedPaths are all places of a manifest that need something of this host.
func (l *loaded) deniedPaths() []manifest.Finding {
	var findings []manifest.Finding
	refuse := func(at manifest.Position, path, what string) {
		findings = append(findings, manifest.Finding{
			Severity: manifest.SeverityError, Code: materialize.HostAccessDenied,
			File: cmp.Or(at.File, l.file), Line: at.Line, Column: at.Column, Path: path,
			Message:    "a manifest from standard input may not " + what + " of this host",
			Suggestion: "add --allow-host-paths if you trust it",
		})
	}
	m := l.manifest
	if len(m.ExtraPathGrants) > 0 {
		refuse(manifest.Position{}, "extra_path_grants", "read files")
	}
	if len(m.Devices) > 0 {
		refuse(manifest.Position{}, "devices", "use devices")
	}
	for _, name := range slices.Sorted(maps.Keys(m.Secrets)) {
		if m.Secrets[name].File != "" {
			refuse(manifest.Position{}, fmt.Sprintf("secrets[%q].file", name), "read files")
		}
	}
	for _, e := range m.Flatten() {
		switch entry := e.Entry.(type) {
		case *manifest.LocalFile:
			refuse(e.Pos, fmt.Sprintf("entries[%q].src", e.Path), "read files")
		case *manifest.LocalDir:
			if entry.Src != "" {
				refuse(e.Pos, fmt.Sprintf("entries[%q].src", e.Path), "read files")
			}
		}
	}
	return findings
}

// linkedGrants are grants that open another path than they name.
func (l *loaded) linkedGrants() []manifest.Finding {
	var findings []manifest.Finding
	for i, g := range l.manifest.ExtraPathGrants {
		// What cannot be opened at all is refused where it is used.
		leads, err := materialize.ResolveGrant(g)
		named := filepath.Clean(cmp.Or(g.HostPath, g.Path))
		if err != nil || leads == "" || leads == named {
			continue
		}
		finding := l.grantFinding(i, materialize.SymlinkNotSupported)
		finding.Message = fmt.Sprintf("links lead %q to %q, which a manifest from standard input may not use", named, leads)
		finding.Suggestion = "write where they lead"
		findings = append(findings, finding)
	}
	return findings
}

// hostGrants are the grants that can be used on this host, and findings for the
// others.
func (l *loaded) hostGrants() (usable []manifest.PathGrant, findings []manifest.Finding) {
	for i, g := range l.manifest.ExtraPathGrants {
		_, err := materialize.ResolveGrant(g)
		if bad, ok := errors.AsType[*materialize.GrantError](err); ok {
			finding := l.grantFinding(i, bad.Reason)
			finding.Message = bad.Error()
			findings = append(findings, finding)
			continue
		}
		usable = append(usable, g)
	}
	return usable, findings
}

func (l *loaded) grantFinding(i int, code string) manifest.Finding {
	field := "path"
	if l.manifest.ExtraPathGrants[i].HostPath != "" {
		field = "host_path"
	}
	return manifest.Finding{
		Severity: manifest.SeverityError, Code: code, File: l.file, Path: fmt.Sprintf("extra_path_grants[%d].%s", i, field),
	}
}
