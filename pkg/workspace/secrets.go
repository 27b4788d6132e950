package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
	"github.com/docker-workspace/docker-workspace/pkg/plan"
)

// MaxSecret is the largest value that a secret may have, in bytes.
const MaxSecret = 1 << 20

// SecretError says which secret cannot be had and where it was looked for. It
// never holds its value.
type SecretError struct {
	Name   string
	Source string // such as: file "token.txt"
	Err    error
}

func (e *SecretError) Error() string {
	return fmt.Sprintf("read secret %q from %s: %v", e.Name, e.Source, e.Err)
}

func (e *SecretError) Unwrap() error { return e.Err }

// variables are the values of the environment that a manifest does not have
// itself, by the name of the variable.
type variables map[string]string

// callerVariables looks up what a manifest takes from the caller's environment.
// All that is missing is reported at once, as a *manifest.InvalidError.
func callerVariables(m *manifest.Manifest, lookup func(string) (string, bool)) (variables, error) {
	found := variables{}
	var missing []manifest.Finding
	for _, v := range m.Environment {
		if v.FromEnv == "" {
			continue
		}
		value, ok := lookup(v.FromEnv)
		switch {
		case ok:
			found[v.Name] = value
		case v.Default != nil:
			found[v.Name] = *v.Default
		default:
			missing = append(missing, manifest.Finding{
				Severity: manifest.SeverityError, Code: manifest.CodeUnsetVariable, File: v.Pos.File, Line: v.Pos.Line, Column: v.Pos.Column,
				Path:       fmt.Sprintf("environment[%q]", v.Name),
				Message:    fmt.Sprintf("variable %s takes its value from %s, which is not set here", v.Name, v.FromEnv),
				Suggestion: "set it, or give a default",
			})
		}
	}
	if len(missing) > 0 {
		return nil, &manifest.InvalidError{Findings: missing}
	}
	return found, nil
}

// stale says which variables a container has otherwise.
func (v variables) stale(env []string) []string {
	var changes []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if !slices.Contains(env, name+"="+v[name]) {
			changes = append(changes, fmt.Sprintf("environment %s has another value now", name))
		}
	}
	return changes
}

// lookup is how the caller's environment is read.
func (o *ApplyOptions) lookup() func(string) (string, bool) {
	if o.LookupEnv == nil {
		return os.LookupEnv
	}
	return o.LookupEnv
}

// readSecrets gives the variables that are secrets their values. They are read
// only for a new container: an existing one has them, and the redactor is told.
func (a *apply) readSecrets(ctx context.Context) error {
	if a.existing != nil {
		a.redact.learn(a.secretsOf(a.existing.Env)...)
	}
	if !a.plan.Has(plan.CreateContainer) {
		return nil
	}
	values, err := resolveSecrets(ctx, a.manifest, a.opts.lookup(), a.sources)
	if err != nil {
		return err
	}
	for _, v := range a.manifest.Environment {
		if v.Secret != "" {
			a.variables[v.Name] = values[v.Secret]
		}
	}
	a.redact.learn(slices.Collect(maps.Values(values))...)
	return nil
}

// secretsOf picks the values of secrets out of a container's environment.
func (a *apply) secretsOf(env []string) []string {
	var values []string
	for _, v := range a.manifest.Environment {
		for _, set := range env {
			if value, ok := strings.CutPrefix(set, v.Name+"="); ok && v.Secret != "" {
				values = append(values, value)
			}
		}
	}
	return values
}

// resolveSecrets reads the secrets that something uses, side by side. The first
// failure cancels the rest and is a *SecretError.
func resolveSecrets(ctx context.Context, m *manifest.Manifest, lookup func(string) (string, bool), sources *materialize.Sources) (map[string]string, error) {
	var names []string
	for _, v := range m.Environment {
		if v.Secret != "" && !slices.Contains(names, v.Secret) {
			names = append(names, v.Secret)
		}
	}
	values := make([]string, len(names))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(materialize.DefaultConcurrency)
	for i, name := range names {
		group.Go(func() error {
			secret := m.Secrets[name]
			value, err := readSecret(ctx, secret, lookup, sources)
			if err != nil {
				return &SecretError{Name: name, Source: plan.SecretSource(secret), Err: err}
			}
			values[i] = value
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	found := make(map[string]string, len(names))
	for i, name := range names {
		found[name] = values[i]
	}
	return found, nil
}

func readSecret(ctx context.Context, s manifest.Secret, lookup func(string) (string, bool), sources *materialize.Sources) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	var value string
	var err error
	switch {
	case s.Env != "":
		var ok bool
		if value, ok = lookup(s.Env); !ok {
			return "", errors.New("it is not set here")
		}
	case sources == nil:
		return "", errors.New("the manifest may not read files of this host")
	default:
		value, err = readSecretFile(s.File, sources)
	}
	switch {
	case err != nil:
		return "", err
	case len(value) > MaxSecret:
		return "", fmt.Errorf("it has more than %d bytes", MaxSecret)
	case strings.ContainsRune(value, 0):
		return "", errors.New("it has a NUL byte, which no environment can hold")
	}
	return value, nil
}

// readSecretFile reads a little more than a secret may have, at most. Editors
// end the last line; that one line break is no part of the secret.
func readSecretFile(path string, sources *materialize.Sources) (string, error) {
	file, err := sources.File(path)
	if err != nil {
		return "", err
	}
	in, err := file.Open()
	if err != nil {
		return "", err
	}
	defer in.Close()
	content, err := io.ReadAll(io.LimitReader(in, MaxSecret+3))
	if err != nil {
		return "", err
	}
	value, ended := strings.CutSuffix(string(content), "\n")
	if ended {
		value = strings.TrimSuffix(value, "\r")
	}
	return value, nil
}
