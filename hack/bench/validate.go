package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
)

// validateEntries is the number of entries in the manifest that is validated.
const validateEntries = 10_000

// validateManifest measures what decoding and validating a manifest adds to
// parsing its YAML. Both run in this process, so no peak is known.
func validateManifest() measurement {
	doc := yamlManifest(validateEntries)
	return measurement{
		name: fmt.Sprintf("validate %d entries / parse their YAML", validateEntries), bound: 3, rounds: 9,
		ours: func(context.Context) (sample, error) {
			begin := time.Now()
			_, _, err := manifest.Decode(bytes.NewReader(doc), manifest.DecodeOptions{Format: manifest.FormatYAML})
			return sample{elapsed: time.Since(begin)}, err
		},
		yardstick: func(context.Context) (sample, error) {
			begin := time.Now()
			var n yaml.Node
			err := yaml.Unmarshal(doc, &n)
			return sample{elapsed: time.Since(begin)}, err
		},
	}
}

// yamlManifest has so many inline files as people write them, a hundred in a
// directory.
func yamlManifest(files int) []byte {
	var b bytes.Buffer
	b.WriteString("version: 1\nentries:\n")
	for i := range files {
		fmt.Fprintf(&b, "  dir%d/file%d.txt:\n    type: file\n    mode: \"0644\"\n    content: |\n%s",
			i/100, i%100, strings.Repeat(fmt.Sprintf("      line of file %d\n", i), 3))
	}
	return b.Bytes()
}
