package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/client"
)

// What went wrong, whatever the engine's own words. Errors of this package wrap
// one of these where it applies and keep the engine's message.
var (
	// ErrNotFound: the image, container or path does not exist.
	ErrNotFound = errors.New("not found")
	// ErrConflict: the name or a host port is taken, or the object is in a state
	// (running, stopped, in use) that does not allow the call.
	ErrConflict = errors.New("conflict")
	// ErrUnavailable: no engine answers.
	ErrUnavailable = errors.New("engine unavailable")
	// ErrUnsupported: the engine is too old for what was asked, or says that it
	// does not implement it.
	ErrUnsupported = errors.New("unsupported by the engine")
)

// answerError is the engine's message, under one of the sentinels or nil.
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
	answer := &answerError{message: strings.TrimPrefix(err.Error(), "Error response from daemon: "), cause: err}
	switch {
	case client.IsErrConnectionFailed(err):
		answer.kind = ErrUnavailable
		answer.message += " (start the engine, or choose another one: docker context ls)"
	case cerrdefs.IsNotFound(err):
		answer.kind = ErrNotFound
	case cerrdefs.IsConflict(err), strings.Contains(answer.message, "port is already allocated"):
		answer.kind = ErrConflict
	case cerrdefs.IsNotImplemented(err):
		answer.kind = ErrUnsupported
	}
	return answer
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
	// The HTTP client may go on reading for a moment after it has an answer.
	failure atomic.Pointer[error]
}

func (s *sourceReader) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.failure.Store(&err)
	}
	return n, err
}

// blame prefers the source's error over what the engine made of the broken stream.
func (s *sourceReader) blame(err error) error {
	if failure := s.failure.Load(); failure != nil {
		return fmt.Errorf("read what to send: %w", *failure)
	}
	return err
}
