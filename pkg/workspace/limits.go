package workspace

import (
	"maps"
	"math"
	"slices"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/manifest"
)

func portBinding(p manifest.Port) engine.PortBinding {
	return engine.PortBinding{ContainerPort: p.Port, Protocol: p.Protocol, HostIP: p.HostIP, HostPort: p.HostPort}
}

func limits(spec *engine.ContainerSpec, r *manifest.Resources) {
	spec.NanoCPUs = int64(math.Round(r.CPUs * 1e9))
	spec.Memory = int64(r.Memory)
	spec.ShmSize = int64(r.ShmSize)
	spec.PidsLimit = int64(r.Pids)
	for _, name := range slices.Sorted(maps.Keys(r.Ulimits)) {
		limit := r.Ulimits[name]
		spec.Ulimits = append(spec.Ulimits, engine.Ulimit{Name: name, Soft: int64(limit.Soft), Hard: int64(limit.Hard)})
	}
}

func healthcheck(h *manifest.Healthcheck) *engine.Healthcheck {
	return &engine.Healthcheck{
		Test: h.Test, Interval: h.Interval, Timeout: h.Timeout,
		StartPeriod: h.StartPeriod, StartInterval: h.StartInterval, Retries: h.Retries,
	}
}
