#!/usr/bin/env bash
# Runs each fuzz target of the module for a time, 20s unless the first argument says otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."

time=${1:-20s}
for package in $(go list ./...); do
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		echo "$package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package"
	done
done
