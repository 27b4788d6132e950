#!/usr/bin/env bash
# Prints the path of a development tool that tools/go.mod pins, building it first where that has not been done with this
# version of it and of Go. Usage: hack/tool.sh PACKAGE
set -euo pipefail
cd "$(dirname "$0")/../tools"

package=$1
version=$(go list -f '{{.Module.Version}}' "$package")
binary=${XDG_CACHE_HOME:-$HOME/.cache}/docker-workspace/tools/$(basename "$package")@$version-$(go env GOVERSION)
if [ ! -x "$binary" ]; then
	echo "building $package@$version" >&2
	CGO_ENABLED=0 go build -o "$binary.tmp" "$package"
	mv "$binary.tmp" "$binary"
fi
echo "$binary"
