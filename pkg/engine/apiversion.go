package engine

import (
	"context"
	"fmt"

	"github.com/docker/docker/api/types/versions"
)

// apiFeature is something that engines below an API version refuse or, worse,
// silently ignore.
type apiFeature struct {
	name    string
	api     string // first API version that honours it
	release string // engine release that brought that API
}

// Every API version that this package depends on, oldest first.
var (
	featureExecWorkingDir = apiFeature{"a working directory for exec", "1.35", "17.12"}
	featureGPUs           = apiFeature{"GPU requests", "1.40", "19.03"}
	featurePlatform       = apiFeature{"a platform at container create", "1.41", "20.10"}
	featureStartInterval  = apiFeature{"a health check start interval", "1.44", "25.0"}
)

// require returns [ErrUnsupported] when the engine is too old for the feature.
// It negotiates the API version if no call did before.
func (c *Client) require(ctx context.Context, f apiFeature) error {
	err := c.docker.NewVersionError(ctx, f.api, f.name)
	if err == nil {
		return nil
	}
	if have := c.docker.ClientVersion(); versions.LessThan(have, f.api) {
		return fmt.Errorf("%w: %s needs API %s (Docker Engine %s), this one speaks %s; upgrade the engine",
			ErrUnsupported, f.name, f.api, f.release, have)
	}
	return classify(err)
}
