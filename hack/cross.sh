#!/usr/bin/env bash
# Builds the binary for every platform that we release for, into bin/.
set -euo pipefail
cd "$(dirname "$0")/.."

for os in linux darwin windows; do
	for arch in amd64 arm64; do
		suffix=
		[ "$os" != windows ] || suffix=.exe
		echo "$os/$arch"
		CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -o "bin/docker-workspace-$os-$arch$suffix" ./cmd/docker-workspace
	done
done
