#!/usr/bin/env bash
# Builds the binary from two copies of the tree in different folders, the second with an empty build cache, and compares.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/lib.sh

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for copy in first second; do
	mkdir "$scratch/$copy"
	git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$scratch/$copy"
done
(cd "$scratch/first" && go build -o ../1 ./cmd/docker-workspace)
(cd "$scratch/second" && GOCACHE=$scratch/cache go build -o ../2 ./cmd/docker-workspace)
cmp "$scratch/1" "$scratch/2" ||
	die "the two binaries differ: find out what brings a path, a time or an order into the build"
echo "the same binary twice, $(wc -c <"$scratch/1" | tr -d ' ') bytes"
