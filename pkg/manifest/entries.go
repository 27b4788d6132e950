package manifest

import (
	"io/fs"
	"path"
	"strings"
)

// Entry types, the values of an entry's "type" key.
const (
	TypeFile           = "file"
	TypeDir            = "dir"
	TypeLocalFile      = "local_file"
	TypeLocalDir       = "local_dir"
	TypeGitRepo        = "git_repo"
	TypeS3Mount        = "s3_mount"
	TypeGCSMount       = "gcs_mount"
	TypeR2Mount        = "r2_mount"
	TypeAzureBlobMount = "azure_blob_mount"
	TypeBoxMount       = "box_mount"
	TypeS3FilesMount   = "s3_files_mount"
	TypeVolumeMount    = "volume_mount"
)

// entryTypes makes an empty entry of each type, in the order in which types
// are listed to people.
var entryTypes = union[Entry]{
	{TypeFile, func() Entry { return new(File) }},
	{TypeDir, func() Entry { return new(Dir) }},
	{TypeLocalFile, func() Entry { return new(LocalFile) }},
	{TypeLocalDir, func() Entry { return new(LocalDir) }},
	{TypeGitRepo, func() Entry { return new(GitRepo) }},
	{TypeS3Mount, func() Entry { return new(S3Mount) }},
	{TypeGCSMount, func() Entry { return new(GCSMount) }},
	{TypeR2Mount, func() Entry { return new(R2Mount) }},
	{TypeAzureBlobMount, func() Entry { return new(AzureBlobMount) }},
	{TypeBoxMount, func() Entry { return new(BoxMount) }},
	{TypeS3FilesMount, func() Entry { return new(S3FilesMount) }},
	{TypeVolumeMount, func() Entry { return new(VolumeMount) }},
}

// Entry is one thing that must exist in the workspace. The implementations
// are the pointer types of this package, one per value of Type.
type Entry interface {
	// Type is the value of the entry's "type" key.
	Type() string
	// Attrs are the fields that entries of every type have.
	Attrs() *Attributes
}

// Entries is an ordered map from workspace path to entry.
type Entries []KeyedEntry

// KeyedEntry is an entry and the path that it is declared under.
type KeyedEntry struct {
	// Path is relative to the root, or to the parent directory for children.
	// Decode cleans it, and keeps it as written when CleanPath refuses it.
	Path  string
	Entry Entry
	// Pos is where the document declares the path, zero for entries built in
	// Go. It is no part of the canonical form.
	Pos Position
}

// Attributes are common to all entries.
type Attributes struct {
	// Description for people and models that look at the workspace.
	Description string `json:"description"`
	// Ephemeral entries are written again on every resume and never become
	// part of an image or snapshot. Default false, for mounts true.
	Ephemeral bool `json:"ephemeral"`
	// Owner and Group are names; empty means unspecified.
	Owner string `json:"owner" manifest:"account"`
	Group string `json:"group" manifest:"account"`
	// Mode has the permission bits, nothing else; nil means the default of
	// the type. Whoever writes a directory adds x for each r.
	Mode *fs.FileMode `json:"mode"`
}

// Attrs implements Entry for every type that embeds Attributes.
func (a *Attributes) Attrs() *Attributes { return a }

// File is a regular file with given content.
type File struct {
	Attributes
	// Content is written verbatim; no content is an empty file.
	Content []byte `json:"content"`
	// Interpolate replaces ${VAR} in the content too. Decode has done so
	// already where interpolation was on for the document.
	Interpolate bool `json:"interpolate"`
}

// Type implements Entry.
func (*File) Type() string { return TypeFile }

// Dir is a directory, with children that are entries of their own.
type Dir struct {
	Attributes
	// Children are keyed by paths relative to the directory.
	Children Entries `json:"children"`
}

// Type implements Entry.
func (*Dir) Type() string { return TypeDir }

// LocalFile is a copy of one regular host file.
type LocalFile struct {
	Attributes
	// Src is the host path, relative to the caller's base directory.
	Src string `json:"src"`
}

// Type implements Entry.
func (*LocalFile) Type() string { return TypeLocalFile }

// LocalDir is a copy of a host directory tree.
type LocalDir struct {
	Attributes
	// Src is the host path, relative to the caller's base directory. Empty
	// makes an empty directory.
	Src string `json:"src" manifest:"nonempty"`
	// Exclude and Include are patterns of the ignore file's dialect.
	Exclude []string `json:"exclude"`
	Include []string `json:"include"`
	// IgnoreFile lies below Src; nil means none.
	IgnoreFile *IgnoreFile `json:"ignore_file"`
	// Symlinks says what becomes of links inside the tree; default SymlinksKeep.
	Symlinks SymlinkMode `json:"symlinks"`
}

// Type implements Entry.
func (*LocalDir) Type() string { return TypeLocalDir }

func (l *LocalDir) setDefaults() { l.Symlinks = SymlinksKeep }

// SymlinkMode says what becomes of symbolic links inside a local_dir.
type SymlinkMode string

const (
	// SymlinksKeep stores links verbatim and never reads their targets.
	SymlinksKeep SymlinkMode = "keep"
	// SymlinksReject refuses a tree that holds a link.
	SymlinksReject SymlinkMode = "reject"
	// SymlinksFollow copies what a link points at, if that is a regular file
	// or directory inside an allowed root.
	SymlinksFollow SymlinkMode = "follow"
)

// IgnoreFile names a file of ignore patterns in the copied tree.
type IgnoreFile struct {
	// Path is relative to the source directory.
	Path string `json:"path"`
	// Dialect is DialectDockerignore (the default) or DialectGitignore.
	Dialect string `json:"dialect"`
}

// Dialects of ignore files.
const (
	DialectDockerignore = "dockerignore"
	DialectGitignore    = "gitignore"
)

func (f *IgnoreFile) setDefaults() { f.Dialect = DialectDockerignore }

// GitRepo is a clone made inside the sandbox.
type GitRepo struct {
	Attributes
	// Host (default github.com) and Repo (owner/name or deeper) make the
	// address, unless URL gives it whole.
	Host string `json:"host" manifest:"nonempty"`
	Repo string `json:"repo" manifest:"nonempty"`
	URL  string `json:"url" manifest:"nonempty"`
	// Ref is a branch, tag or commit; empty means the remote's HEAD.
	Ref string `json:"ref" manifest:"nonempty"`
	// Subpath is the part of the repository to take; empty means all of it.
	Subpath string `json:"subpath"`
	// Depth is the number of commits to fetch, default 1; 0 is the whole
	// history, which documents write as null.
	Depth int `json:"depth" manifest:"nullzero"`
	// Submodules and LFS fetch those too.
	Submodules bool `json:"submodules"`
	LFS        bool `json:"lfs"`
	// Sparse lists the paths of a sparse checkout; empty means all.
	Sparse []string `json:"sparse"`
	// Filter is a partial clone filter such as blob:none.
	Filter string `json:"filter"`
	// Credential names the secret that the clone authenticates with.
	Credential *SecretRef `json:"credential"`
}

// DefaultGitHost is the host of a git_repo that names none.
const DefaultGitHost = "github.com"

// Type implements Entry.
func (*GitRepo) Type() string { return TypeGitRepo }

func (g *GitRepo) setDefaults() {
	g.Host = DefaultGitHost
	g.Depth = 1
}

// CloneURL is the address to clone from: URL, or https://HOST/REPO.git.
func (g *GitRepo) CloneURL() string {
	if g.URL != "" {
		return g.URL
	}
	host := g.Host
	if host == "" {
		host = DefaultGitHost
	}
	return "https://" + host + "/" + strings.TrimSuffix(g.Repo, ".git") + ".git"
}

// Flatten lists all entries with their full cleaned paths in declaration
// order. A directory comes before its children, which are in the list as
// entries of their own; the directory keeps its Children field.
func (m *Manifest) Flatten() []KeyedEntry {
	return flatten(nil, "", m.Entries)
}

func flatten(list []KeyedEntry, dir string, entries Entries) []KeyedEntry {
	for _, e := range entries {
		e.Path = path.Join(dir, cleanOrSame(e.Path))
		list = append(list, e)
		if d, ok := e.Entry.(*Dir); ok {
			list = flatten(list, e.Path, d.Children)
		}
	}
	return list
}

// cleanOrSame cleans a path that is valid and leaves others for the
// validator to report as they were written.
func cleanOrSame(p string) string {
	if clean, err := CleanPath(p); err == nil {
		return clean
	}
	return p
}
