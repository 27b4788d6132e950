// Package workspace joins the other packages into what a user of the library
// calls: plan, apply, list, inspect, exec and remove workspaces.
//
// All state lives on Docker objects, in labels. Two clients that talk to one
// engine see the same workspaces.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
)

// ErrNotFound means that there is no workspace of that name.
var ErrNotFound = errors.New("workspace not found")

// Labels of the objects that belong to a workspace.
const (
	labelPrefix       = "io.github.docker-workspace."
	LabelName         = labelPrefix + "name"         // of the workspace
	LabelManifest     = labelPrefix + "manifest"     // digest of the effective manifest
	LabelFingerprints = labelPrefix + "fingerprints" // of its parts, to tell what changed
	LabelRoot         = labelPrefix + "root"         // absolute path of the workspace
	LabelBase         = labelPrefix + "base"         // reference of the base image
	LabelStrategy     = labelPrefix + "strategy"     // how the files got in
	LabelImage        = labelPrefix + "image"        // reference of the image that apply loaded
	LabelProbe        = labelPrefix + "probe"        // a container that only lends its file system
)

// Client works with the workspaces of one engine.
type Client struct {
	Engine *engine.Client
	// CacheDir holds what was learnt about base images; empty keeps nothing.
	CacheDir string
	// Events receives progress, one event at a time; nil drops it.
	Events func(Event)
}

// State says how far an operation is.
type State string

// States of an operation.
const (
	Started  State = "started"
	Progress State = "progress"
	Done     State = "done"
	Failed   State = "failed"
	Warning  State = "warning" // Text is a remark; the operation goes on
)

// Event is one step of progress.
type Event struct {
	Op      string        `json:"op"` // such as "pull-image debian:12"
	State   State         `json:"state"`
	Text    string        `json:"text,omitempty"`
	Current int64         `json:"current,omitempty"` // bytes
	Total   int64         `json:"total,omitempty"`   // bytes, 0 when unknown
	Elapsed time.Duration `json:"elapsed,omitempty"`
}

func (c *Client) emit(e Event) {
	if c.Events != nil {
		c.Events(e)
	}
}

// step runs one operation between its events.
func (c *Client) step(op string, run func() error) (time.Duration, error) {
	begin := time.Now()
	c.emit(Event{Op: op, State: Started})
	err := run()
	elapsed := time.Since(begin)
	if err != nil {
		c.emit(Event{Op: op, State: Failed, Text: err.Error(), Elapsed: elapsed})
		return elapsed, err
	}
	c.emit(Event{Op: op, State: Done, Elapsed: elapsed})
	return elapsed, nil
}

// cleanupTimeout bounds what is still done after a failure or an interrupt.
const cleanupTimeout = 30 * time.Second

// cleanup runs undo even when ctx is over, and adds its failure to err.
func cleanup(ctx context.Context, err error, undo func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if undoErr := undo(ctx); undoErr != nil {
		return errors.Join(err, fmt.Errorf("clean up: %w", undoErr))
	}
	return err
}
