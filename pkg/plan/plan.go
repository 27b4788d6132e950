// Package plan decides what an apply will do before anything is done.
//
// Compute is pure: from the manifest and what was observed on the host and the
// engine it derives ordered operations, each with its cause. The executor runs
// exactly these and takes no decisions; a dry run is printing them.
package plan

import (
	"fmt"
	"io"
	"strings"
)

// Kind names what an operation does.
type Kind string

// The operations, in the order in which a fresh workspace needs them.
const (
	PullImage       Kind = "pull-image"     // the base image, from its registry
	LoadImage       Kind = "load-image"     // the workspace image, into the engine
	StopContainer   Kind = "stop-container" // the workspace that is replaced
	CreateContainer Kind = "create-container"
	WriteFiles      Kind = "write-files" // one archive, streamed into the container
	StartContainer  Kind = "start-container"
	CloneGit        Kind = "clone-git"        // by exec, inside the container
	RemoveContainer Kind = "remove-container" // the workspace that is replaced
)

// An Operation is one step of a plan.
type Operation struct {
	Kind Kind `json:"kind"`
	// Subject is what the operation acts on: an image reference, a container
	// name, a path in the workspace.
	Subject string `json:"subject"`
	// Detail says more about the subject, for a person.
	Detail string `json:"detail,omitempty"`
	// Cause says why the operation is needed.
	Cause string `json:"cause"`
	// Stage is the index into the plan's stages that the operation writes.
	Stage int `json:"stage"`
	// Entry is the entry's index within its stage, for one clone of many.
	Entry int `json:"entry"`
}

// Strategy is how the files of the first stage reach the container.
type Strategy string

// Strategies. Auto is resolved by Compute and never stands in a plan.
const (
	Auto  Strategy = "auto"
	Image Strategy = "image" // a layer on the base, loaded into the engine
	Copy  Strategy = "copy"  // an archive streamed into the created container
)

// A Plan is what apply will do for one workspace.
type Plan struct {
	Name string `json:"name"`
	// Manifest is the digest of the effective manifest.
	Manifest string   `json:"manifest"`
	Base     string   `json:"base"`
	Strategy Strategy `json:"strategy,omitempty"`
	// Operations is never nil; empty means that there is nothing to do.
	Operations []Operation `json:"operations"`
	Warnings   []string    `json:"warnings,omitempty"`
	// Grants and Secrets are what the workspace takes from the caller's host.
	Grants  []Grant  `json:"grants,omitempty"`
	Secrets []Secret `json:"secrets,omitempty"`

	// Stages holds the entries that the operations refer to.
	Stages []Stage `json:"-"`
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool { return len(p.Operations) == 0 }

// Has reports whether the plan contains an operation of kind k.
func (p *Plan) Has(k Kind) bool {
	for _, op := range p.Operations {
		if op.Kind == k {
			return true
		}
	}
	return false
}

// WriteText prints the plan for a person: one line per operation with its
// cause, then what is taken from the caller's host.
func (p *Plan) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, warning := range p.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", warning)
	}
	if p.Empty() {
		fmt.Fprintf(&b, "%s: nothing to do\n", p.Name)
	} else {
		fmt.Fprintf(&b, "%s: %s\n", p.Name, count(len(p.Operations), "operation"))
	}
	kinds, subjects := 0, 0
	for _, op := range p.Operations {
		kinds = max(kinds, len(op.Kind))
		subjects = max(subjects, len(op.subject()))
	}
	digits := len(fmt.Sprint(len(p.Operations)))
	for i, op := range p.Operations {
		fmt.Fprintf(&b, "%*d  %-*s  %-*s  # %s\n", digits+1, i+1, kinds, op.Kind, min(subjects, 60), op.subject(), op.Cause)
	}
	p.writeHost(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// String is the operation on one line, without its cause.
func (op Operation) String() string { return string(op.Kind) + " " + op.subject() }

func (op Operation) subject() string {
	if op.Detail == "" {
		return op.Subject
	}
	return op.Subject + " (" + op.Detail + ")"
}

func count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	default:
		return fmt.Sprintf("%d %ss", n, noun)
	}
}
