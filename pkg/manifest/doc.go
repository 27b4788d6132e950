// Package manifest is the contract of a workspace: which files, directories,
// repositories and mounts must exist before somebody starts to work in it.
//
// [Decode] reads one YAML or JSON document strictly and reports every finding
// with its position; [Load] merges several, and what they include, into one
// manifest. [Manifest.Validate] runs the same checks on a manifest built in Go.
// [Manifest.Canonical] and [Manifest.Digest] give the one form that does not
// depend on dialect, key order or formatting.
//
// The package does no I/O besides the readers it is given: host files,
// secrets and engines are the business of its callers.
package manifest
