package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/docker/go-units"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
)

// ErrConflict means that what exists stands in the way of what is asked for.
var ErrConflict = errors.New("conflict")

// ConflictError says what is in the way, and what to do about it.
type ConflictError struct{ Reason string }

func (e *ConflictError) Error() string { return e.Reason }

// Is makes it an ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// MissingBaseError says that the engine lacks the base image and that it may
// not be pulled.
type MissingBaseError struct{ Base string }

func (e *MissingBaseError) Error() string {
	return fmt.Sprintf("base image %q is not on the engine and --pull never forbids to fetch it: docker pull it, or choose another --base", e.Base)
}

// AutoCopyLimit is the number of bytes up to which the auto strategy streams
// files into the container. Beyond it an image pays: the engine keeps it, and
// the next apply sends nothing.
const AutoCopyLimit = 32 << 20

// Request is what the caller wants.
type Request struct {
	Name     string
	Manifest *manifest.Manifest // effective: base and overrides are in it
	Digest   string             // of Manifest
	Sections map[string]string  // of Manifest, see Fingerprints

	Strategy      Strategy // "" is Auto
	Pull          Pull     // "" is PullMissing
	Recreate      bool
	OnlyEphemeral bool // what is not ephemeral must exist already
}

// Pull says when the base image is pulled.
type Pull string

// Pull policies, as in docker create.
const (
	PullMissing Pull = "missing"
	PullAlways  Pull = "always"
	PullNever   Pull = "never"
)

// Observed is what was found on the host and the engine.
type Observed struct {
	// BasePresent says that the engine has the base image.
	BasePresent bool
	// ImagePresent says that the engine has the workspace image of exactly
	// these files on exactly this base.
	ImagePresent bool
	// Bytes is the size of all files of the first stage.
	Bytes int64
	// Container is the container that has the workspace's name, nil when none.
	Container *Container
}

// Container is a container that has the workspace's name.
type Container struct {
	ID      string
	Running bool
	Managed bool              // it carries our labels
	Digest  string            // of the manifest that it was made from
	Applied map[string]string // fingerprints of that manifest
	// Stale names what would be different if it were made now, although the
	// manifest is the same: "environment HOME changed".
	Stale []string
}

// A DriftError says that a workspace exists which was made from another manifest.
type DriftError struct {
	Name    string
	Changes []string // "entry a.txt changed", sorted
}

func (e *DriftError) Error() string {
	return fmt.Sprintf("workspace %q was made from another manifest: %s; use --recreate to replace it, or --name for a second one",
		e.Name, strings.Join(e.Changes, ", "))
}

// Is makes every drift a conflict.
func (e *DriftError) Is(target error) bool { return target == ErrConflict }

// Compute derives the plan. It refuses with ErrConflict what an existing
// container stands against, and with an error of its own an impossible request.
func Compute(req Request, seen Observed) (*Plan, error) {
	p := &Plan{
		Name:       req.Name,
		Manifest:   req.Digest,
		Base:       req.Manifest.Base,
		Operations: []Operation{},
		Stages:     Stages(req.Manifest.Flatten()),
	}
	p.host(req.Manifest)
	c := seen.Container
	switch {
	case c != nil && !c.Managed:
		return nil, &ConflictError{fmt.Sprintf("container %q exists and is not a workspace: remove it with docker rm, or choose another --name", req.Name)}
	case c != nil && !req.Recreate:
		return p, p.resume(req, c)
	case c == nil && req.OnlyEphemeral:
		return nil, fmt.Errorf("workspace %q does not exist: --only-ephemeral rewrites entries of an existing one", req.Name)
	}
	return p, p.create(req, seen)
}

// resume keeps the existing workspace: it is started when it is stopped, and
// only ephemeral entries are written again, each on its own.
func (p *Plan) resume(req Request, c *Container) error {
	if c.Digest != req.Digest {
		return &DriftError{Name: req.Name, Changes: Changes(c.Applied, req.Sections)}
	}
	if len(c.Stale) > 0 {
		return &DriftError{Name: req.Name, Changes: c.Stale}
	}
	if !c.Running {
		p.add(Operation{Kind: StartContainer, Subject: req.Name, Cause: "the container is stopped"})
	}
	p.Stages = Stages(Ephemeral(req.Manifest.Flatten()))
	p.write(0, "ephemeral: rewritten on every apply")
	return nil
}

func (p *Plan) create(req Request, seen Observed) error {
	if err := p.pull(req, seen); err != nil {
		return err
	}
	strategy, cause := choose(req, seen)
	p.Strategy = strategy
	first := 0
	image := "the base"
	if strategy == Image {
		image = "the workspace image"
		if len(p.Stages) > 0 {
			first = 1
		}
		if !seen.ImagePresent {
			p.add(Operation{Kind: LoadImage, Subject: req.Name, Detail: "on " + req.Manifest.Base + p.summary(0), Cause: cause})
		}
	}
	missing := "no workspace of this name"
	if seen.Container != nil {
		missing = "--recreate"
		if seen.Container.Running {
			p.add(Operation{Kind: StopContainer, Subject: req.Name, Cause: "the new one needs its ports"})
		}
	}
	p.add(Operation{Kind: CreateContainer, Subject: req.Name, Detail: "from " + image, Cause: missing})
	if strategy == Copy {
		p.add(Operation{Kind: WriteFiles, Subject: req.Manifest.Root, Detail: strings.TrimPrefix(p.summary(0), ", "), Cause: cause})
		first = 1
	}
	p.add(Operation{Kind: StartContainer, Subject: req.Name, Cause: "a new workspace is started"})
	p.write(first, "")
	// Last, so that a failure on the way leaves what was there.
	if seen.Container != nil {
		p.add(Operation{Kind: RemoveContainer, Subject: req.Name, Cause: "replaced by the new one"})
	}
	return nil
}

func (p *Plan) pull(req Request, seen Observed) error {
	base := req.Manifest.Base
	switch {
	case req.Pull == PullAlways:
		p.add(Operation{Kind: PullImage, Subject: base, Cause: "--pull always"})
	case seen.BasePresent:
	case req.Pull == PullNever:
		return &MissingBaseError{base}
	default:
		p.add(Operation{Kind: PullImage, Subject: base, Cause: "the engine does not have it"})
	}
	return nil
}

func choose(req Request, seen Observed) (Strategy, string) {
	size := units.HumanSize(float64(seen.Bytes))
	switch {
	case req.Strategy == Image:
		return Image, "--strategy image"
	case req.Strategy == Copy:
		return Copy, "--strategy copy"
	case seen.ImagePresent:
		return Image, "the engine has the image"
	case seen.Bytes <= AutoCopyLimit:
		return Copy, size + " stream faster than an image loads"
	default:
		return Image, size + " are worth an image that the engine keeps"
	}
}

// write adds the operations of all stages from first on.
func (p *Plan) write(first int, cause string) {
	for i := first; i < len(p.Stages); i++ {
		stage := p.Stages[i]
		if len(stage.Entries) == 0 {
			continue
		}
		if !stage.Git {
			p.add(Operation{
				Kind: WriteFiles, Subject: stage.Entries[0].Path, Detail: strings.TrimPrefix(p.summary(i), ", "),
				Cause: orElse(cause, "declared over a clone"), Stage: i,
			})
			continue
		}
		for j, e := range stage.Entries {
			repo := e.Entry.(*manifest.GitRepo)
			p.add(Operation{
				Kind: CloneGit, Subject: e.Path, Detail: repo.CloneURL() + " at " + orElse(repo.Ref, "HEAD"),
				Cause: orElse(cause, "declared entry"), Stage: i, Entry: j,
			})
		}
	}
}

func (p *Plan) summary(stage int) string {
	if stage >= len(p.Stages) {
		return ", " + count(0, "entry")
	}
	return ", " + count(len(p.Stages[stage].Entries), "entry")
}

func (p *Plan) add(op Operation) { p.Operations = append(p.Operations, op) }

// Ephemeral selects the entries that every apply writes again.
func Ephemeral(entries []manifest.KeyedEntry) []manifest.KeyedEntry {
	var out []manifest.KeyedEntry
	for _, e := range entries {
		if e.Entry.Attrs().Ephemeral {
			out = append(out, e)
		}
	}
	return out
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
