package engine

import (
	"slices"
	"testing"

	"github.com/docker/go-connections/nat"
)

func TestPortBindings(t *testing.T) {
	got := portBindings(nat.PortMap{
		"9000/tcp": nil, // exposed, not published
		"80/tcp":   {{HostIP: "::", HostPort: "32768"}, {HostIP: "0.0.0.0", HostPort: "32768"}},
		"53/udp":   {{HostIP: "127.0.0.1"}},
		"53/tcp":   {{HostIP: "127.0.0.1", HostPort: "5353"}},
	})
	want := []PortBinding{
		{ContainerPort: 53, Protocol: "tcp", HostIP: "127.0.0.1", HostPort: 5353},
		{ContainerPort: 53, Protocol: "udp", HostIP: "127.0.0.1"},
		{ContainerPort: 80, Protocol: "tcp", HostIP: "0.0.0.0", HostPort: 32768},
		{ContainerPort: 80, Protocol: "tcp", HostIP: "::", HostPort: 32768},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestGoArch(t *testing.T) {
	for machine, want := range map[string]string{
		"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "i686": "386", "riscv64": "riscv64",
	} {
		if got := goArch(machine); got != want {
			t.Errorf("%s: got %s, want %s", machine, got, want)
		}
	}
}
