package workspace

import (
	"context"
	"errors"
	"io/fs"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
	"github.com/docker-workspace/docker-workspace/pkg/oci"
	"github.com/docker-workspace/docker-workspace/pkg/plan"
)

// prepared are the objects of one manifest, by the stage that writes them.
// Their content is still on the host.
type prepared struct {
	accounts *materialize.Accounts
	owner    materialize.Owner // of what belongs to nobody in particular
	user     materialize.Owner // who works in the workspace
	stages   [][]oci.Entry     // none for a stage that clones
	warnings []string
}

// bytes is the size of all content of a stage.
func (p *prepared) bytes(stage int) int64 {
	if stage >= len(p.stages) {
		return 0
	}
	var n int64
	for _, e := range p.stages[stage] {
		n += e.Size
	}
	return n
}

// prepare compiles the stages over the file system that they will land on. When
// that is nil, not known yet, names of accounts are not resolved. The first
// stage of a fresh workspace also holds its root, its accounts, and the
// destinations of clones: they exist, and belong to who runs git, before it runs.
func prepare(ctx context.Context, m *manifest.Manifest, stages []plan.Stage, below fileSystem, sources *materialize.Sources, opts prepareOptions) (*prepared, error) {
	p := &prepared{}
	accountFiles, err := p.readAccounts(ctx, m, below, opts.imageUser)
	if err != nil {
		return nil, err
	}
	compiler := materialize.Compiler{Root: m.Root, Sources: sources, Accounts: p.accounts, Owner: p.owner, Concurrency: opts.concurrency}
	first := append(accountFiles, compiler.RootEntry())
	for _, stage := range stages {
		objects, warnings, err := compiler.Compile(ctx, stage.Entries)
		if err != nil {
			return nil, err
		}
		if stage.Git {
			first = append(first, objects...)
			objects = nil
		}
		p.stages = append(p.stages, objects)
		p.warnings = append(p.warnings, warnings...)
	}
	if opts.fresh {
		if len(p.stages) == 0 {
			p.stages = [][]oci.Entry{nil}
		}
		p.stages[0] = append(first, p.stages[0]...)
	}
	return p, nil
}

type prepareOptions struct {
	concurrency int
	fresh       bool
	imageUser   string // who works there when the manifest names nobody
}

// readAccounts merges the manifest's accounts into those below, and returns the
// objects that make it so. Account files are read only when a name needs them.
func (p *prepared) readAccounts(ctx context.Context, m *manifest.Manifest, below fileSystem, imageUser string) ([]oci.Entry, error) {
	if below == nil {
		return nil, nil
	}
	var passwd, group materialize.AccountFile
	if imageUser != "" || needsAccounts(m) {
		var err error
		if passwd, err = readAccountFile(ctx, below, "etc/passwd"); err != nil {
			return nil, err
		}
		if group, err = readAccountFile(ctx, below, "etc/group"); err != nil {
			return nil, err
		}
	}
	var err error
	if p.accounts, err = materialize.NewAccounts(passwd, group, m); err != nil {
		return nil, err
	}
	switch {
	case m.RunAs != "":
		p.owner, err = p.accounts.RunAs(m.RunAs)
		p.user = p.owner
	case imageUser != "":
		p.user, err = p.accounts.RunAs(imageUser)
	}
	return p.accounts.Entries(), err
}

func needsAccounts(m *manifest.Manifest) bool {
	if len(m.Users) > 0 || len(m.Groups) > 0 || m.RunAs != "" {
		return true
	}
	for _, e := range m.Flatten() {
		if a := e.Entry.Attrs(); a.Owner != "" || a.Group != "" {
			return true
		}
	}
	return false
}

func readAccountFile(ctx context.Context, below fileSystem, name string) (materialize.AccountFile, error) {
	header, content, err := below.ReadFile(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return materialize.AccountFile{}, nil
	}
	if err != nil {
		return materialize.AccountFile{}, err
	}
	return materialize.AccountFile{Header: header, Content: content}, nil
}
