package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/client"
)

// What went wrong, whatever the engine's own words. Errors of this package wrap
// one of these where it applies and keep the engine's message.
var (
	// ErrNotFound: the image, container or path does not exist.
	ErrNotFound = errors.New("not found")
	// ErrConflict: the name or a host port is taken, or the object is in a state (running,
	// stopped, in use) that does not allow the call.
	ErrConflict = errors.New("conflict")
	// ErrUnavailable: no engine answers.
	ErrUnavailable = errors.New("engine unavailable")
	// ErrUnsupported: the engine is too old for what was asked, or says that it
	// does not implement it.
	ErrUnsupported = errors.New("unsupported by the engine")
)

// answerError is the engine's message under one of the sentinels.
type answerError struct {
	kind    error
	message string
	cause   error
}

func (e *answerError) Error() string   { return e.message }
func (e *answerError) Unwrap() []error { return []error{e.kind, e.cause} }

// classify maps an error of the docker client. Context errors pass as they are.
func classify(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	message := strings.TrimPrefix(err.Error(), "Error response from daemon: ")
	switch {
	case client.IsErrConnectionFailed(err):
		message += " (start the engine, or choose another one: docker context ls)"
		return &answerError{kind: ErrUnavailable, message: message, cause: err}
	case cerrdefs.IsNotFound(err):
		return &answerError{kind: ErrNotFound, message: message, cause: err}
	case cerrdefs.IsConflict(err), strings.Contains(message, "port is already allocated"):
		return &answerError{kind: ErrConflict, message: message, cause: err}
	case cerrdefs.IsNotImplemented(err):
		return &answerError{kind: ErrUnsupported, message: message, cause: err}
	}
	return errors.New(message)
}

// ignoreNotFound makes removals idempotent.
func ignoreNotFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// sourceReader remembers why reading failed. An upload whose source breaks off
// looks to the engine, and to the HTTP client, like a broken connection; the
// source's own error is the one that helps.
type sourceReader struct {
	io.Reader
	err error
}

func (s *sourceReader) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// blame prefers the source's error over what the engine made of the broken stream.
func (s *sourceReader) blame(err error) error {
	if s.err != nil {
		return fmt.Errorf("read what to send: %w", s.err)
	}
	return err
}
