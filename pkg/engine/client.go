// Package engine is the only package that talks to a Docker Engine. It offers
// the few calls that the rest of the project needs, with types of its own, so
// that no type of the Engine API's client leaks out.
//
// Every call negotiates the API version on first use and maps the engine's
// answers onto [ErrNotFound], [ErrConflict], [ErrUnavailable] and
// [ErrUnsupported]. See https://docs.docker.com/reference/api/engine/.
package engine

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/docker/docker/client"
)

// Options says which engine to talk to and how. The zero value is the engine
// that the docker command would use without a context: DOCKER_HOST with its
// TLS variables, else the platform's default socket.
type Options struct {
	// Host is the engine's address: unix://, npipe://, tcp:// or http://.
	// Empty means DOCKER_HOST (with DOCKER_TLS_VERIFY and DOCKER_CERT_PATH),
	// else the platform's default socket.
	Host string
	// TLS secures a tcp:// host. It is ignored when Host is empty.
	TLS *tls.Config
	// DialContext replaces the dialer, for engines behind a helper such as ssh.
	// It cannot be combined with TLS.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)
	// UserAgent is sent with every request; empty sends Go's default.
	UserAgent string
	// Headers are sent with every request, as HttpHeaders in Docker's config.json.
	Headers map[string]string
}

// Client talks to one engine. It is safe for concurrent use.
type Client struct {
	docker *client.Client
}

// New returns a client without contacting the engine, so an unreachable one
// shows at the first call. The caller closes the client.
func New(opts Options) (*Client, error) {
	if opts.TLS != nil && opts.DialContext != nil {
		return nil, fmt.Errorf("configure engine client for %q: TLS and a dialer cannot be combined", opts.Host)
	}
	docker, err := client.NewClientWithOpts(clientOpts(opts)...)
	if err != nil {
		return nil, fmt.Errorf("configure engine client for %q: %w", opts.Host, err)
	}
	return &Client{docker: docker}, nil
}

// clientOpts is in the order that the docker client needs: the HTTP client
// before the host, which configures its transport, and the dialer last.
func clientOpts(opts Options) []client.Opt {
	var out []client.Opt
	if opts.Host == "" {
		out = append(out, client.FromEnv)
	} else {
		transport := &http.Transport{TLSClientConfig: opts.TLS}
		out = append(out,
			client.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: client.CheckRedirect}),
			client.WithHost(opts.Host),
			client.WithVersionFromEnv(),
		)
	}
	if opts.DialContext != nil {
		out = append(out, client.WithDialContext(opts.DialContext))
	}
	if opts.UserAgent != "" {
		out = append(out, client.WithUserAgent(opts.UserAgent))
	}
	if len(opts.Headers) > 0 {
		out = append(out, client.WithHTTPHeaders(opts.Headers))
	}
	return append(out, client.WithAPIVersionNegotiation())
}

// Close releases idle connections. Calling it more than once is fine.
func (c *Client) Close() error {
	return c.docker.Close()
}

// Local reports whether the engine is reached through a socket of this machine,
// so that its host's paths are paths of this machine.
func (c *Client) Local() bool {
	host := c.Host()
	return strings.HasPrefix(host, "unix:") || strings.HasPrefix(host, "npipe:")
}

// Host is the address that the client talks to, for messages.
func (c *Client) Host() string {
	return c.docker.DaemonHost()
}

// Ping reports whether the engine answers; [ErrUnavailable] names the host.
func (c *Client) Ping(ctx context.Context) error {
	if _, err := c.docker.Ping(ctx); err != nil {
		return fmt.Errorf("ping engine: %w", classify(err))
	}
	return nil
}

// Info describes an engine.
type Info struct {
	// Version is the engine's release, such as 20.10.24.
	Version string
	// APIVersion is the negotiated API version: the lower one of the engine's
	// newest and ours.
	APIVersion string
	// OS and Architecture are in Go's terms: linux, amd64.
	OS, Architecture string
	// OperatingSystem is the name of the engine's distribution.
	OperatingSystem string
	// StorageDriver is the graph driver, or the snapshotter of a containerd store.
	StorageDriver string
	// ContainerdStore says that images live in containerd, where the image ID is
	// the digest of the manifest or index instead of the config's.
	ContainerdStore bool
}

// Info asks the engine what it is.
func (c *Client) Info(ctx context.Context) (Info, error) {
	info, err := c.docker.Info(ctx)
	if err != nil {
		return Info{}, fmt.Errorf("ask engine for its info: %w", classify(err))
	}
	out := Info{
		Version:         info.ServerVersion,
		APIVersion:      c.docker.ClientVersion(),
		OS:              info.OSType,
		Architecture:    goArch(info.Architecture),
		OperatingSystem: info.OperatingSystem,
		StorageDriver:   info.Driver,
	}
	for _, status := range info.DriverStatus {
		if status[0] == "driver-type" && status[1] == "io.containerd.snapshotter.v1" {
			out.ContainerdStore = true
		}
	}
	return out, nil
}

// goArch translates the kernel's machine name, which is what engines report,
// to the name that image platforms use.
func goArch(machine string) string {
	switch machine {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	case "armv7l", "armv6l":
		return "arm"
	case "i386", "i686":
		return "386"
	}
	return machine
}
