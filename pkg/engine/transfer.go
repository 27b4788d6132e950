package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/docker/docker/api/types/image"
)

// PullOptions controls [Client.PullImage].
type PullOptions struct {
	// Platform is os[/arch[/variant]]; empty means the engine's own.
	Platform string
	// RegistryAuth is the value of the X-Registry-Auth header: base64url of the
	// JSON auth configuration. Empty pulls anonymously.
	RegistryAuth string
	// Progress, if set, is called for every event, in order, from the goroutine
	// that called PullImage.
	Progress func(PullEvent)
}

// PullEvent is one step of a pull.
type PullEvent struct {
	// ID is the layer, shortened, or empty for the pull as a whole.
	ID string
	// Status is the engine's text, such as "Downloading".
	Status string
	// Current and Total are bytes, zero where they mean nothing.
	Current, Total int64
}

// PullImage makes the engine pull ref from its registry and returns when it is
// done. A reference that the registry does not have gives [ErrNotFound].
func (c *Client) PullImage(ctx context.Context, ref string, opts PullOptions) error {
	body, err := c.docker.ImagePull(ctx, ref, image.PullOptions{
		Platform:     opts.Platform,
		RegistryAuth: opts.RegistryAuth,
	})
	if err != nil {
		return fmt.Errorf("pull image %q: %w", ref, pullError(classify(err)))
	}
	defer body.Close()
	err = readMessages(ctx, body, func(m message) {
		if opts.Progress != nil {
			opts.Progress(PullEvent{ID: m.ID, Status: m.Status, Current: m.Progress.Current, Total: m.Progress.Total})
		}
	})
	if err != nil {
		return fmt.Errorf("pull image %q: %w", ref, pullError(err))
	}
	return nil
}

// pullError recognises a missing image by the registry's words, because engines
// report it as an internal error or, from 24 on, within the stream.
func pullError(err error) error {
	for _, words := range []string{"manifest unknown", "repository does not exist"} {
		if strings.Contains(err.Error(), words) {
			return &answerError{kind: ErrNotFound, message: err.Error(), cause: err}
		}
	}
	return err
}

// LoadImage sends an image archive to the engine's store. The engine decides
// which formats it takes and whether layers that it already has may be omitted;
// its refusal is an error although it answers with status 200. When reading r
// fails, that error is returned instead of the engine's complaint about it.
// After another error r may still be read from for a moment.
func (c *Client) LoadImage(ctx context.Context, r io.Reader) error {
	source := &sourceReader{Reader: r}
	resp, err := c.docker.ImageLoad(ctx, source)
	if err != nil {
		return fmt.Errorf("load image: %w", source.blame(classify(err)))
	}
	defer resp.Body.Close()
	if err := readMessages(ctx, resp.Body, func(message) {}); err != nil {
		return fmt.Errorf("load image: %w", source.blame(err))
	}
	return nil
}

// message is one object of the JSON stream that pull and load answer with.
type message struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Progress struct {
		Current int64 `json:"current"`
		Total   int64 `json:"total"`
	} `json:"progressDetail"`
	Error       string `json:"error"`
	ErrorDetail *struct {
		Message string `json:"message"`
	} `json:"errorDetail"`
}

// readMessages reads the stream to its end, because the engine works only as
// long as somebody reads and may report failure in the last message.
func readMessages(ctx context.Context, r io.Reader, each func(message)) error {
	var failure error
	for dec := json.NewDecoder(r); ; {
		var m message
		err := dec.Decode(&m)
		switch {
		case errors.Is(err, io.EOF):
			return failure
		case ctx.Err() != nil:
			return ctx.Err()
		case failure != nil && err != nil:
			return failure
		case err != nil:
			return fmt.Errorf("read the engine's progress: %w", err)
		}
		if m.ErrorDetail != nil && m.ErrorDetail.Message != "" {
			m.Error = m.ErrorDetail.Message
		}
		if m.Error != "" && failure == nil {
			failure = errors.New(m.Error)
			continue
		}
		each(m)
	}
}
