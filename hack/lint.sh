#!/usr/bin/env bash
# Lints with golangci-lint, or, where that cannot be built, with go vet, staticcheck and gofumpt.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/lib.sh

if linter=$(hack/tool.sh github.com/golangci/golangci-lint/v2/cmd/golangci-lint); then
	exec "$linter" run
fi
log "golangci-lint cannot be built here, see above: running go vet, staticcheck and gofumpt instead"
staticcheck=$(hack/tool.sh honnef.co/go/tools/cmd/staticcheck)
gofumpt=$(hack/tool.sh mvdan.cc/gofumpt)
go vet ./...
"$staticcheck" ./...
unformatted=$("$gofumpt" -l .)
[ -z "$unformatted" ] || die "run 'make fmt', these files are not formatted: $unformatted"
