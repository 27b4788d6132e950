package engine

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/docker/docker/api/types/image"
	"github.com/google/go-cmp/cmp"
)

// The recording is the answer of engine 20.10 for an image that sets every
// field, with those added that only newer engines or other platforms have.
func TestImageLosesNothing(t *testing.T) {
	recording, err := os.ReadFile("testdata/image-inspect.json")
	if err != nil {
		t.Fatal(err)
	}
	var resp image.InspectResponse
	if err := json.Unmarshal(recording, &resp); err != nil {
		t.Fatal(err)
	}
	want := Image{
		ID:           "sha256:44ece4b1b56066f9176cf092b4543239dd65925978860b4caf5f724e59b9c9ac",
		Tags:         []string{"engtest/cfg:1"},
		RepoDigests:  []string{},
		OS:           "linux",
		Architecture: "amd64",
		Variant:      "v8",
		OSVersion:    "10.0.1",
		Author:       "somebody",
		DiffIDs:      []string{"sha256:b775a67b909203b5e23c55f88e02eafbfc0fb689a255840c428b5667c45c11ca"},
		Size:         1982532,
		Config: ImageConfig{
			User:         "dev",
			WorkingDir:   "/w",
			Env:          []string{"PATH=/bin"},
			Entrypoint:   []string{"/bin/sh", "-c"},
			Cmd:          []string{"/bin/sh"},
			Labels:       map[string]string{"a": "b"},
			ExposedPorts: []string{"80/tcp"},
			Volumes:      []string{"/v"},
			StopSignal:   "SIGINT",
			Healthcheck: &Healthcheck{
				Test: []string{"CMD", "true"}, Interval: time.Second, Timeout: 2 * time.Second,
				StartPeriod: 3 * time.Second, StartInterval: 4 * time.Second, Retries: 5,
			},
			OnBuild:     []string{"RUN x"},
			Shell:       []string{"/bin/sh", "-c"},
			ArgsEscaped: true,
		},
	}
	if diff := cmp.Diff(want, imageOf(resp)); diff != "" {
		t.Errorf("image (-want +got):\n%s", diff)
	}
}
