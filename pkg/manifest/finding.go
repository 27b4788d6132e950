package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrInvalid is what every *InvalidError is, for errors.Is.
var ErrInvalid = errors.New("invalid manifest")

// Severity of a finding.
type Severity string

const (
	// SeverityError makes a manifest invalid.
	SeverityError Severity = "error"
	// SeverityWarning does not.
	SeverityWarning Severity = "warning"
)

// Position in a document. Lines and columns count from 1, columns in
// characters; the zero value means that there is none.
type Position struct {
	// File is the name that the document was given, or the option of the
	// command line, which has no lines, that says what is found there.
	File   string
	Line   int
	Column int
}

// seenFrom is the position as text for a message about a place: the file is
// named only if it is another one.
func (p Position) seenFrom(place Position) string {
	switch {
	case p.File == place.File:
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	case p.Line == 0:
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Finding is something wrong or doubtful in a manifest.
type Finding struct {
	Severity Severity `json:"severity"`
	// Code is one of the Code constants, or a reason of a PathError.
	Code    string `json:"code"`
	Message string `json:"message"`
	File    string `json:"file"`
	// Line and Column are zero for manifests built in Go.
	Line   int `json:"line"`
	Column int `json:"column"`
	// Path in the document, such as entries["a/b"].mode.
	Path string `json:"path"`
	// Suggestion is what to write instead, if there is something near.
	Suggestion string `json:"suggestion,omitempty"`
}

// Codes of findings. Paths have the reasons of PathError besides.
const (
	CodeSyntax             = "syntax"
	CodeEncoding           = "encoding"
	CodeEmptyDocument      = "empty_document"
	CodeMultipleDocuments  = "multiple_documents"
	CodeTooLarge           = "too_large"
	CodeTooDeep            = "too_deep"
	CodeAliasExpansion     = "alias_expansion"
	CodeDuplicateKey       = "duplicate_key"
	CodeUnknownKey         = "unknown_key"
	CodeUnknownType        = "unknown_type"
	CodeWrongType          = "wrong_type"
	CodeMissing            = "missing"
	CodeInvalidValue       = "invalid_value"
	CodeConflict           = "conflict"
	CodeDuplicate          = "duplicate"
	CodeInterpolation      = "interpolation"
	CodeUnsetVariable      = "unset_variable"
	CodeUnsupportedVersion = "unsupported_version"
	CodeDuplicatePath      = "duplicate_path"
	CodeBelowNonDirectory  = "below_non_directory"
	CodeUndeclaredSecret   = "undeclared_secret"
	CodeMountConfig        = "mount_config_invalid"
	CodeInclude            = "include"
	CodeSet                = "set"
	CodeEnvFile            = "env_file"
	CodeTooMany            = "too_many_findings"

	// Warnings.
	CodeNameCollision    = "name_collision"
	CodeControlCharacter = "control_character"
	CodeWhiteoutName     = "whiteout_name"
	CodeEphemeralDir     = "ephemeral_dir"
)

// String is the line that people read: file:line:col: message (suggestion).
func (f Finding) String() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File + ":")
	}
	if f.Line > 0 {
		fmt.Fprintf(&b, "%d:%d:", f.Line, f.Column)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if f.Severity == SeverityWarning {
		b.WriteString("warning: ")
	}
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.Message)
	if f.Suggestion != "" {
		b.WriteString(" (" + f.Suggestion + ")")
	}
	return b.String()
}

// InvalidError has everything that makes a manifest invalid, in the order of
// the document. It is ErrInvalid.
type InvalidError struct {
	Findings []Finding
}

// Error has one line per finding.
func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Findings))
	for i, f := range e.Findings {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Is reports whether target is ErrInvalid.
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }

// maxFindings bounds what documents can make us say, errors and warnings each:
// a warning must not take the place of an error, nor make one of its own.
const maxFindings = 1000

// findings collects what is found in the documents of one manifest.
type findings struct {
	files            []string // in the order in which they were read
	list             []Finding
	errors, warnings int
}

// full reports whether more errors would be left out.
func (l *findings) full() bool { return l.errors > maxFindings }

func (l *findings) add(f Finding, pos Position) {
	count := &l.errors
	if f.Severity == SeverityWarning {
		count = &l.warnings
	}
	switch *count++; {
	case *count == maxFindings+1:
		f = Finding{Severity: f.Severity, Code: CodeTooMany, Message: "too many findings; the rest is left out"}
	case *count > maxFindings:
		return
	}
	f.File, f.Line, f.Column = pos.File, pos.Line, pos.Column
	l.list = append(l.list, f)
}

// sorted returns all findings in the order of the documents and, if one is an
// error, the errors among them as an *InvalidError.
func (l *findings) sorted() ([]Finding, error) {
	slices.SortStableFunc(l.list, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(l.files, a.File), slices.Index(l.files, b.File)),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
		)
	})
	var errs []Finding
	for _, f := range l.list {
		if f.Severity == SeverityError {
			errs = append(errs, f)
		}
	}
	if len(errs) > 0 {
		return l.list, &InvalidError{Findings: errs}
	}
	return l.list, nil
}
