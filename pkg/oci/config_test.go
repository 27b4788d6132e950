package oci_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dockerspec "github.com/moby/docker-image-spec/specs-go/v1"
	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/docker-workspace/docker-workspace/pkg/oci"
)

var (
	baseLayer  = digest.FromString("base layer")
	firstLayer = digest.FromString("first layer")
	lastLayer  = digest.FromString("last layer")
)

func richBase() oci.BaseImage {
	created := time.Date(2024, 2, 3, 4, 5, 6, 7, time.FixedZone("", 3600))
	base := oci.BaseImage{
		OS: "linux", Architecture: "arm64", Variant: "v8",
		DiffIDs: []digest.Digest{baseLayer},
		History: []v1.History{{Created: &created, CreatedBy: "ADD rootfs"}, {CreatedBy: "CMD sh", EmptyLayer: true}},
	}
	base.Config.User = "daemon"
	base.Config.Env = []string{"PATH=/bin", "LANG=C"}
	base.Config.Entrypoint = []string{"/entry"}
	base.Config.Cmd = []string{"sh"}
	base.Config.WorkingDir = "/srv"
	base.Config.Labels = map[string]string{"vendor": "base", "version": "1"}
	base.Config.ExposedPorts = map[string]struct{}{"80/tcp": {}}
	base.Config.StopSignal = "SIGINT"
	base.Config.Healthcheck = &dockerspec.HealthcheckConfig{Test: []string{"CMD", "true"}, Interval: time.Second}
	base.Config.Shell = []string{"/bin/sh", "-c"}
	return base
}

func TestBuildConfigGolden(t *testing.T) {
	noHistory, wrongHistory := richBase(), richBase()
	noHistory.History = nil
	wrongHistory.History = wrongHistory.History[1:]
	layers := []digest.Digest{firstLayer, lastLayer}
	tests := []struct {
		name    string
		base    oci.BaseImage
		layers  []digest.Digest
		changes oci.Changes
	}{
		{"scratch", oci.BaseImage{OS: "linux", Architecture: "amd64"}, layers[:1], oci.Changes{}},
		{"nothing changed", richBase(), layers, oci.Changes{}},
		{"everything changed", richBase(), layers, oci.Changes{
			Env:        []string{"NEW=2", "LANG=en=US", "NEW=3", "A="},
			Labels:     map[string]string{"version": "2", "added": "yes"},
			WorkingDir: "/workspace", User: "1000:1000", Cmd: []string{"make"},
		}},
		{"entrypoint drops cmd", richBase(), layers, oci.Changes{Entrypoint: []string{"/init"}}},
		{"history unknown", noHistory, layers, oci.Changes{}},
		{"history of other layers", wrongHistory, layers, oci.Changes{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw, id, err := oci.BuildConfig(tt.base, tt.layers, tt.changes)
			if err != nil {
				t.Fatal(err)
			}
			if id != digest.FromBytes(raw) {
				t.Errorf("id %s is not the digest of the config", id)
			}
			var text bytes.Buffer
			if err := json.Indent(&text, raw, "", "  "); err != nil {
				t.Fatal(err)
			}
			golden(t, "config/"+strings.ReplaceAll(tt.name, " ", "-")+".txt", id.String()+"\n\n"+text.String()+"\n")
		})
	}
}

func TestBuildConfigLeavesItsArgumentsAlone(t *testing.T) {
	base := richBase()
	changes := oci.Changes{Env: []string{"LANG=C.UTF-8", "X=1"}, Labels: map[string]string{"vendor": "me"}, Entrypoint: []string{"x"}}
	if _, _, err := oci.BuildConfig(base, []digest.Digest{firstLayer}, changes); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(richBase(), base); diff != "" {
		t.Errorf("base changed:\n%s", diff)
	}
	if len(changes.Labels) != 1 {
		t.Errorf("labels of the changes are now %v", changes.Labels)
	}
}

func TestBuildConfigRefusesBadEnv(t *testing.T) {
	for _, env := range []string{"NAME", "=value", ""} {
		_, _, err := oci.BuildConfig(oci.BaseImage{}, nil, oci.Changes{Env: []string{env}})
		if err == nil || !strings.Contains(err.Error(), "is not NAME=value") {
			t.Errorf("env %q: error %v", env, err)
		}
	}
}
