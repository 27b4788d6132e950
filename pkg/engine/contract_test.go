package engine_test

import (
	"archive/tar"
	"testing"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/engine/enginetest"
)

// base is an image with the commands that tests run.
func base(ref string) enginetest.Image {
	files := []enginetest.File{
		{Name: "bin", Type: tar.TypeDir},
		{Name: "etc", Type: tar.TypeDir},
		{Name: "etc/passwd", Content: "root:x:0:0:root:/root:/bin/sh\ndev:x:1000:1000::/home/dev:/bin/sh\n"},
		{Name: "tmp", Type: tar.TypeDir, Mode: 0o1777},
	}
	for _, command := range []string{"cat", "id", "sh", "sleep", "true"} {
		files = append(files, enginetest.File{Name: "bin/" + command, Mode: 0o755})
	}
	return enginetest.Image{
		Ref:    ref,
		Layers: [][]byte{enginetest.Tar(files...)},
		Env:    []string{"PATH=/bin"},
		Cmd:    []string{"sh"},
		Labels: map[string]string{"base": "yes"},
	}
}

// fake starts a fake engine with the base image, and a client for it.
func fake(t *testing.T, opts enginetest.Options) (*enginetest.Engine, *engine.Client) {
	t.Helper()
	opts.Images = append(opts.Images, base("base:1"))
	e := enginetest.New(t, opts)
	client, err := engine.New(engine.Options{Host: e.Host()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return e, client
}

func TestContract(t *testing.T) {
	for name, containerd := range map[string]bool{"graph driver store": false, "containerd store": true} {
		t.Run(name, func(t *testing.T) {
			_, client := fake(t, enginetest.Options{Containerd: containerd, Exec: enginetest.ContractExec})
			enginetest.Contract(t, client, enginetest.ContractEnv{Image: "base:1"})
		})
	}
}
