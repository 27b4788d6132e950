package manifest

import (
	"errors"
	"fmt"
	"iter"
	"path"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// declared is an entry with its place in the document and in the workspace.
type declared struct {
	KeyedEntry
	at *docPath
	// target is where the entry ends up, relative to the root.
	target string
}

// entries checks every entry by itself and then how they lie together.
func (v *validator) entries() {
	var all []declared
	v.walkEntries(top("entries"), "", v.manifest.Entries, &all)
	v.samePaths(all)
	v.overlaps(all)
	v.collisions(all)
}

func (v *validator) walkEntries(at *docPath, dir string, entries Entries, all *[]declared) {
	for _, e := range entries {
		at := at.key(e.Path)
		at.pos = e.Pos
		if e.Entry == nil {
			v.fail(at, CodeMissing, "the entry is nil", "")
			continue
		}
		clean, err := CleanPath(e.Path)
		if err != nil {
			v.pathError(at, err)
			clean = e.Path
		}
		e.Path = path.Join(dir, clean)
		if err == nil {
			v.name(at, clean, e.Path)
			*all = append(*all, declared{e, at, target(e)})
		}
		v.entry(at, e.Entry)
		if d, ok := e.Entry.(*Dir); ok {
			v.ephemeralDir(at, d)
			v.walkEntries(at.field("children"), e.Path, d.Children, all)
		}
	}
}

// target is where an entry with a valid path ends up.
func target(e KeyedEntry) string {
	if m, ok := e.Entry.(mounter); ok && m.mount().MountPath != "" {
		if clean, err := CleanPath(m.mount().MountPath); err == nil {
			return clean
		}
	}
	return e.Path
}

func (v *validator) pathError(at *docPath, err error) {
	if pe, ok := errors.AsType[*PathError](err); ok {
		v.fail(at, pe.Reason, pe.Error(), "")
	}
}

// name checks what depends on the whole path, and warns of odd names.
func (v *validator) name(at *docPath, key, full string) {
	if len(v.root())+1+len(full) > maxPath {
		v.fail(at, ReasonTooLong, fmt.Sprintf("the path below %s is longer than %d bytes", v.root(), maxPath), "")
	}
	for c := range strings.SplitSeq(key, "/") {
		if strings.HasPrefix(c, ".wh.") {
			v.warn(at, CodeWhiteoutName, fmt.Sprintf("name %q means a deletion in image layers, so that no image can hold it", c), "")
		}
		if strings.ContainsFunc(c, unicode.IsControl) {
			v.warn(at, CodeControlCharacter, fmt.Sprintf("name %q has a control character", c), "")
		}
	}
}

func (v *validator) ephemeralDir(at *docPath, d *Dir) {
	if !d.Ephemeral {
		return
	}
	for _, c := range d.Children {
		if c.Entry != nil && !c.Entry.Attrs().Ephemeral {
			message := fmt.Sprintf("the directory is ephemeral, but its child %q is not", c.Path)
			v.warn(at, CodeEphemeralDir, message, "ephemeral does not reach the children; mark each one")
			return
		}
	}
}

// samePaths refuses two keys that name one path.
func (v *validator) samePaths(all []declared) {
	first := make(map[string]declared, len(all))
	for _, e := range all {
		if other, ok := first[e.Path]; ok {
			v.fail(e.at, CodeDuplicatePath, fmt.Sprintf("path %q is already declared%s", e.Path, byWhom(other, e)), "")
			continue
		}
		first[e.Path] = e
	}
}

// byWhom points from a declaration at an earlier one.
func byWhom(earlier, e declared) string {
	if earlier.Pos == (Position{}) {
		return " by " + earlier.at.String()
	}
	return " at " + earlier.Pos.seenFrom(e.Pos)
}

// overlaps refuses entries below something that is not a directory, and
// mounts on a target that is taken by more than a plain directory.
func (v *validator) overlaps(all []declared) {
	closed := make(map[string]declared, len(all))
	taken := make(map[string]declared, len(all))
	for _, e := range all {
		if !holdsEntries(e.Entry) {
			closed[e.target] = e
		}
		if _, ok := e.Entry.(*Dir); ok {
			continue
		}
		if other, ok := taken[e.target]; ok && other.Path != e.Path {
			v.fail(e.at, CodeDuplicatePath, fmt.Sprintf("mount target %q is already taken%s", e.target, byWhom(other, e)), "")
		}
		taken[e.target] = e
	}
	for _, e := range all {
		for dir := range parents(e.target) {
			if other, ok := closed[dir]; ok {
				message := fmt.Sprintf("%q lies below %q, a %s%s, which cannot hold entries", e.target, dir, other.Entry.Type(), byWhom(other, e))
				v.fail(e.at, CodeBelowNonDirectory, message, "")
				break
			}
		}
	}
}

// parents are the directories that a path lies in, from the nearest.
func parents(p string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := strings.LastIndexByte(p, '/'); i > 0; i = strings.LastIndexByte(p[:i], '/') {
			if !yield(p[:i]) {
				return
			}
		}
	}
}

// holdsEntries reports whether other entries may lie below an entry. Those
// below a volume are seeded into it.
func holdsEntries(e Entry) bool {
	switch e.(type) {
	case *Dir, *LocalDir, *GitRepo, *VolumeMount:
		return true
	}
	return false
}

// sibling is a name in a directory, which has a number.
type sibling struct {
	dir  int
	name string
}

// collisions warns of names that file systems of macOS and Windows take for
// one. Every path is looked at once, component by component, so that the work
// is that of reading the document, however deep the paths are.
func (v *validator) collisions(all []declared) {
	dirs := map[sibling]int{}
	first := map[sibling]string{} // by folded name
	for _, e := range all {
		dir := 0
		for name := range strings.SplitSeq(e.target, "/") {
			at := sibling{dir, name}
			if known, ok := dirs[at]; ok {
				dir = known
				continue
			}
			folded := sibling{dir, fold(name)}
			dir = len(dirs) + 1
			dirs[at] = dir
			if other, ok := first[folded]; ok {
				v.warn(e.at, CodeNameCollision, fmt.Sprintf("%q and %q differ only by case or Unicode normalisation", other, name), "")
			} else {
				first[folded] = name
			}
		}
	}
}

// fold maps names that differ by case or Unicode normalisation to one.
func fold(s string) string {
	return norm.NFC.String(strings.Map(foldRune, norm.NFC.String(s)))
}

// foldRune is the smallest rune that differs only by case, but a lower one of
// ASCII, which most names are in already.
func foldRune(r rune) rune {
	smallest := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		smallest = min(smallest, f)
	}
	if 'A' <= smallest && smallest <= 'Z' {
		smallest += 'a' - 'A'
	}
	return smallest
}

// entry checks one entry by itself.
func (v *validator) entry(at *docPath, e Entry) {
	v.attributes(at, e.Attrs())
	switch e := e.(type) {
	case *LocalFile:
		v.require(at, "src", e.Src)
		v.noNUL(at.field("src"), e.Src)
	case *LocalDir:
		v.localDir(at, e)
	case *GitRepo:
		v.gitRepo(at, e)
	case mounter:
		v.mountEntry(at, e)
	}
}

func (v *validator) attributes(at *docPath, a *Attributes) {
	for _, f := range []struct{ name, value string }{{"owner", a.Owner}, {"group", a.Group}} {
		if f.value != "" {
			v.accountName(at.field(f.name), f.value)
		}
	}
	if a.Mode != nil && *a.Mode&^0o777 != 0 {
		v.invalid(at.field("mode"), "%O has more than permission bits", uint32(*a.Mode))
	}
}

func (v *validator) localDir(at *docPath, e *LocalDir) {
	v.noNUL(at.field("src"), e.Src)
	v.oneOf(at.field("symlinks"), string(e.Symlinks), "", string(SymlinksKeep), string(SymlinksReject), string(SymlinksFollow))
	if f := e.IgnoreFile; f != nil {
		at := at.field("ignore_file")
		if _, err := CleanPath(f.Path); err != nil {
			v.pathError(at, err)
		}
		v.oneOf(at.field("dialect"), f.Dialect, "", DialectDockerignore, DialectGitignore)
	}
}

func (v *validator) noNUL(at *docPath, s string) {
	if strings.ContainsRune(s, 0) {
		v.fail(at, ReasonNUL, "path has a NUL byte", "")
	}
}

// oneOf reports a value that is none of the allowed ones.
func (v *validator) oneOf(at *docPath, value string, allowed ...string) {
	var shown []string
	for _, a := range allowed {
		if a == value {
			return
		}
		if a != "" {
			shown = append(shown, a)
		}
	}
	v.fail(at, CodeInvalidValue, fmt.Sprintf("%q is not one of %s", value, strings.Join(shown, ", ")), nearest(value, shown))
}
