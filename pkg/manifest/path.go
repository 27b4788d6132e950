package manifest

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// Reasons of a PathError.
const (
	ReasonEmpty            = "empty"
	ReasonAbsolute         = "absolute"
	ReasonEscapeRoot       = "escape_root"
	ReasonNUL              = "nul"
	ReasonInvalidUTF8      = "invalid_utf8"
	ReasonTooLong          = "too_long"
	ReasonComponentTooLong = "component_too_long"
)

// Limits of POSIX systems, in bytes.
const (
	maxPath      = 4096
	maxComponent = 255
)

var reasonTexts = map[string]string{
	ReasonEmpty:            "is empty; name something below the root",
	ReasonAbsolute:         "is absolute; write it relative to the root",
	ReasonEscapeRoot:       "has a \"..\" component; write it without",
	ReasonNUL:              "has a NUL byte",
	ReasonInvalidUTF8:      "is not UTF-8",
	ReasonTooLong:          fmt.Sprintf("is longer than %d bytes", maxPath),
	ReasonComponentTooLong: fmt.Sprintf("has a component longer than %d bytes", maxComponent),
}

// PathError is a workspace path that is refused.
type PathError struct {
	// Path as it was written.
	Path string
	// Reason is one of the Reason constants.
	Reason string
}

// Error says what is wrong with the path.
func (e *PathError) Error() string {
	const shown = 80
	p := e.Path
	if len(p) > shown {
		p = p[:shown] + "…"
	}
	return fmt.Sprintf("path %q %s", p, reasonTexts[e.Reason])
}

// CleanPath returns a workspace path in its one spelling: relative, with
// slashes, without empty and "." components. Backslashes become slashes. A
// path that is empty, absolute (a drive letter makes it so) or too long, or
// that has a ".." component or a NUL byte, is a *PathError. Cleaning a clean
// path changes nothing.
func CleanPath(s string) (string, error) {
	refuse := func(reason string) (string, error) {
		return "", &PathError{Path: s, Reason: reason}
	}
	p := strings.ReplaceAll(s, `\`, "/")
	switch {
	case p == "":
		return refuse(ReasonEmpty)
	case !utf8.ValidString(p):
		return refuse(ReasonInvalidUTF8)
	case strings.ContainsRune(p, 0):
		return refuse(ReasonNUL)
	case p[0] == '/' || hasDrive(p):
		return refuse(ReasonAbsolute)
	}
	for c := range strings.SplitSeq(p, "/") {
		if c == ".." {
			return refuse(ReasonEscapeRoot)
		}
		if len(c) > maxComponent {
			return refuse(ReasonComponentTooLong)
		}
	}
	p = path.Clean(p)
	switch {
	case p == ".":
		return refuse(ReasonEmpty)
	case hasDrive(p):
		return refuse(ReasonAbsolute)
	case len(p) > maxPath:
		return refuse(ReasonTooLong)
	}
	return p, nil
}

// hasDrive reports whether a path starts with a Windows drive letter.
func hasDrive(p string) bool {
	if len(p) < 2 || p[1] != ':' {
		return false
	}
	c := p[0] | 0x20
	return c >= 'a' && c <= 'z'
}
