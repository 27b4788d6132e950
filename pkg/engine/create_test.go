package engine_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/engine/enginetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestCreateRequest compares what goes over the wire with golden requests, from
// which fields that are empty were dropped.
func TestCreateRequest(t *testing.T) {
	yes := true
	for name, spec := range map[string]engine.ContainerSpec{
		"minimal": {Name: "box", Image: "base:1"},
		"cleared": {Name: "box", Image: "base:1", Entrypoint: []string{}, Cmd: []string{}},
		"full": {
			Name: "box", Image: "base:1", Hostname: "host", User: "dev", WorkingDir: "/work",
			NetworkMode: "none", Runtime: "runc", Platform: "linux/arm64/v8",
			Entrypoint: []string{"/init"}, Cmd: []string{"sleep", "1"}, Env: []string{"A=1"},
			Labels: map[string]string{"l": "1"}, Init: &yes,
			Ports: []engine.PortBinding{
				{ContainerPort: 80}, {ContainerPort: 53, Protocol: "udp", HostIP: "127.0.0.1", HostPort: 5353},
			},
			Memory: 1 << 20, NanoCPUs: 5e8, PidsLimit: 10, ShmSize: 1 << 16,
			Ulimits:  []engine.Ulimit{{Name: "nofile", Soft: 10, Hard: -1}},
			GPUs:     "2",
			Devices:  []string{"/dev/fuse", "/dev/a:/dev/b", "/dev/a:/dev/b:r"},
			GroupAdd: []string{"audio"},
			Binds:    []engine.Bind{{Source: "/usr/lib", Target: "/opt/data/deeper", ReadOnly: true}, {Source: "/usr", Target: "/opt/data"}},
			Healthcheck: &engine.Healthcheck{
				Test: []string{"CMD", "true"}, Interval: time.Second, Timeout: time.Second,
				StartPeriod: time.Second, StartInterval: time.Second, Retries: 3,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, client := fake(t, enginetest.Options{Containerd: true})
			if _, err := client.CreateContainer(t.Context(), spec); err != nil {
				t.Fatal(err)
			}
			requests := e.Requests()
			last := requests[len(requests)-1]
			var body any
			if err := json.Unmarshal(last.Body, &body); err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(map[string]any{"query": last.Query, "body": withoutEmpty(body)}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "testdata/create-"+name+".json", string(got)+"\n")
		})
	}
}

// withoutEmpty drops what stands for "not set", but keeps empty lists.
func withoutEmpty(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	for key, field := range object {
		switch field := withoutEmpty(field).(type) {
		case nil, bool, float64, string:
			if field == nil || field == false || field == 0.0 || field == "" {
				delete(object, key)
			}
		case map[string]any:
			if len(field) == 0 && !strings.Contains(key, "/") {
				delete(object, key)
			}
		}
	}
	return object
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), -update accepts it:\n%s", file, diff)
	}
}

func TestCreateRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		spec engine.ContainerSpec
		want string
		is   error
	}{
		"no GPU count":      {spec: engine.ContainerSpec{GPUs: "some"}, want: `request GPUs "some"`},
		"no GPU at all":     {spec: engine.ContainerSpec{GPUs: "0"}, want: `request GPUs "0"`},
		"no device":         {spec: engine.ContainerSpec{Devices: []string{":/dev/x"}}, want: `add device ":/dev/x"`},
		"a long device":     {spec: engine.ContainerSpec{Devices: []string{"/a:/b:r:w"}}, want: `add device "/a:/b:r:w"`},
		"a port of zero":    {spec: engine.ContainerSpec{Ports: []engine.PortBinding{{}}}, want: "publish port 0/tcp"},
		"a port too high":   {spec: engine.ContainerSpec{Ports: []engine.PortBinding{{ContainerPort: 70000}}}, want: "publish port 70000/tcp"},
		"an odd protocol":   {spec: engine.ContainerSpec{Ports: []engine.PortBinding{{ContainerPort: 1, Protocol: "icmp"}}}, want: "publish port 1/icmp"},
		"an engine too old": {spec: engine.ContainerSpec{Healthcheck: &engine.Healthcheck{StartInterval: time.Second}}, want: "API 1.44 (Docker Engine 25.0), this one speaks 1.41", is: engine.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			e, client := fake(t, enginetest.Options{})
			test.spec.Name, test.spec.Image = "box", "base:1"
			_, err := client.CreateContainer(t.Context(), test.spec)
			if err == nil || !strings.HasPrefix(err.Error(), `create container "box": `) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got %v, want %v", err, test.is)
			}
			if len(e.Containers()) != 0 {
				t.Errorf("created %v", e.Containers())
			}
		})
	}
}
