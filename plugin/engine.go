package plugin

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/docker/cli/cli/command"
	"github.com/docker/cli/cli/connhelper"
	"github.com/docker/cli/cli/context/docker"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/workspace"
)

// client connects to the engine of the current context, -H or DOCKER_HOST. The
// caller closes its Engine.
func (a *app) client(events func(workspace.Event)) (*workspace.Client, error) {
	endpoint, err := a.endpoint()
	if err != nil {
		return nil, fmt.Errorf("find engine of context %q: %w", a.docker.CurrentContext(), err)
	}
	opts := engine.Options{Host: endpoint.Host, UserAgent: "docker-workspace/" + version, Headers: a.docker.ConfigFile().HTTPHeaders}
	helper, err := connhelper.GetConnectionHelper(endpoint.Host)
	switch {
	case err != nil:
		return nil, fmt.Errorf("connect to engine %q: %w", endpoint.Host, err)
	case helper != nil:
		opts.Host, opts.DialContext = helper.Host, helper.Dialer
	case !strings.HasPrefix(endpoint.Host, "unix:") && !strings.HasPrefix(endpoint.Host, "npipe:"):
		if opts.TLS, err = tlsConfig(endpoint); err != nil {
			return nil, fmt.Errorf("connect to engine %q: %w", endpoint.Host, err)
		}
	}
	eng, err := engine.New(opts)
	if err != nil {
		return nil, err
	}
	return &workspace.Client{Engine: eng, CacheDir: cacheDir(), Events: events}, nil
}

// endpoint is what DockerCli.DockerEndpoint would return. That one goes on with
// the default engine when a context is missing or broken, where rm would remove
// somebody else's workspace, and it asks the engine for its version.
func (a *app) endpoint() (docker.Endpoint, error) {
	contexts, name := a.docker.ContextStore(), a.docker.CurrentContext()
	found, err := contexts.GetMetadata(name)
	if err != nil {
		return docker.Endpoint{}, err
	}
	meta, err := docker.EndpointFromContext(found)
	if err != nil {
		return docker.Endpoint{}, err
	}
	return docker.WithTLSData(contexts, name, meta)
}

func tlsConfig(endpoint docker.Endpoint) (*tls.Config, error) {
	data := endpoint.TLSData
	if data == nil && !endpoint.SkipTLSVerify {
		return nil, nil
	}
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: endpoint.SkipTLSVerify, //nolint:gosec // the context says so
	}
	if data == nil {
		return config, nil
	}
	if data.CA != nil {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(data.CA) {
			return nil, errors.New("ca.pem of the context holds no certificate")
		}
	}
	if data.Key != nil && data.Cert != nil {
		pair, err := tls.X509KeyPair(data.Cert, data.Key)
		if err != nil {
			return nil, fmt.Errorf("read key and certificate of the context: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// registryAuth uses what docker login stored. A credential helper that fails
// does not keep anybody from a public image.
func (a *app) registryAuth(ref string) (string, error) {
	auth, err := command.RetrieveAuthTokenFromImage(a.docker.ConfigFile(), ref)
	if err != nil {
		fmt.Fprintf(a.docker.Err(), "warning: no credentials for %s, pulling anonymously: %v\n", ref, err)
		return "", nil
	}
	return auth, nil
}

func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "docker-workspace")
}
