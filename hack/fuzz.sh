#!/usr/bin/env bash
# Runs each fuzz target of the module for a time, 20s unless the first argument says otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."

time=${1:-20s}
grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | sort | while IFS=: read -r file declaration; do
	target=${declaration#func }
	echo "$target in $(dirname "$file")"
	# To shrink one input may take a minute by default, which is all the time there is.
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10x "$(dirname "$file")" </dev/null
done
