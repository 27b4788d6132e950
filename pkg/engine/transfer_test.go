package engine_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/engine/enginetest"
)

func TestPull(t *testing.T) {
	remote := base("registry.example.com/team/app:2")
	e, client := fake(t, enginetest.Options{Registry: []enginetest.Image{remote}})
	var events []engine.PullEvent
	err := client.PullImage(t.Context(), remote.Ref, engine.PullOptions{
		Platform: "linux/arm64", RegistryAuth: "e30=",
		Progress: func(event engine.PullEvent) { events = append(events, event) },
	})
	if err != nil {
		t.Fatal(err)
	}
	image, err := client.InspectImage(t.Context(), remote.Ref)
	if err != nil {
		t.Fatal(err)
	}
	size, layer := image.Size, strings.TrimPrefix(image.DiffIDs[0], "sha256:")[:12]
	_, digest, _ := strings.Cut(image.RepoDigests[0], "@")
	want := []engine.PullEvent{
		{ID: "2", Status: "Pulling from registry.example.com/team/app"},
		{ID: layer, Status: "Downloading", Current: size, Total: size},
		{Status: "Digest: " + digest},
		{Status: "Status: Downloaded newer image for " + remote.Ref},
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for _, request := range e.Requests() {
		if request.Path == "/images/create" && (request.Header.Get("X-Registry-Auth") != "e30=" || request.Query.Get("platform") != "linux/arm64") {
			t.Errorf("sent auth %q, platform %q", request.Header.Get("X-Registry-Auth"), request.Query.Get("platform"))
		}
	}
	if err := client.PullImage(t.Context(), remote.RepoDigest(), engine.PullOptions{}); err != nil {
		t.Errorf("pull by digest: %v", err)
	}
}

func TestPullFailures(t *testing.T) {
	for name, test := range map[string]struct {
		status  int // 0: what the engine says by itself
		message string
		want    error
	}{
		"a missing image":                   {message: "manifest unknown", want: engine.ErrNotFound},
		"a missing image within the stream": {http.StatusOK, "manifest unknown", engine.ErrNotFound},
		"a missing repository":              {http.StatusInternalServerError, "pull access denied for x, repository does not exist", engine.ErrNotFound},
		"a broken transfer":                 {http.StatusOK, "unexpected EOF", nil},
		"no registry":                       {http.StatusInternalServerError, "dial tcp: no such host", nil},
	} {
		t.Run(name, func(t *testing.T) {
			e, client := fake(t, enginetest.Options{})
			if test.status != 0 {
				e.Fail("POST", "/images/create", test.status, test.message)
			}
			err := client.PullImage(t.Context(), "team/app:2", engine.PullOptions{})
			if err == nil || !strings.Contains(err.Error(), `pull image "team/app:2"`) || !strings.Contains(err.Error(), test.message) {
				t.Errorf("got %v, want an error with the reference and %q", err, test.message)
			}
			if got := errors.Is(err, engine.ErrNotFound); got != (test.want != nil) {
				t.Errorf("errors.Is(%v, ErrNotFound) = %v", err, got)
			}
		})
	}
}

func TestLoadReadsTheStreamToItsEnd(t *testing.T) {
	e, client := fake(t, enginetest.Options{})
	e.Fail("POST", "/images/load", http.StatusOK, "no space left on device")
	err := client.LoadImage(t.Context(), strings.NewReader("archive"))
	if err == nil || err.Error() != "load image: no space left on device" {
		t.Errorf("got %v, want the error of the stream", err)
	}
}

func TestUntaggedImagesHaveNoNames(t *testing.T) {
	_, client := fake(t, enginetest.Options{})
	replacement := base("base:1")
	replacement.Labels = map[string]string{"base": "new"}
	if err := client.LoadImage(t.Context(), strings.NewReader(string(replacement.Archive()))); err != nil {
		t.Fatal(err)
	}
	old, err := client.ListImages(t.Context(), "base=yes")
	if err != nil {
		t.Fatal(err)
	}
	if len(old) != 1 || len(old[0].Tags) != 0 || len(old[0].RepoDigests) != 0 {
		t.Errorf("got %+v, want one image that lost its name", old)
	}
	if err := client.RemoveImage(t.Context(), old[0].ID); err != nil {
		t.Errorf("remove it by ID: %v", err)
	}
}
