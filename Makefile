# What can be done with this repository. `make` lists it.

# One set of flags for every command: other flags would compile everything again.
export GOFLAGS := -trimpath -buildvcs=false
export CGO_ENABLED := 0

BINARY := bin/docker-workspace
PLUGINS := $(or $(DOCKER_CONFIG),$(HOME)/.docker)/cli-plugins
FUZZTIME := 20s

.PHONY: help demo build install test race fuzz e2e bench lint fmt generate check-generated cover repro cross release

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "%-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: install ## apply examples/quickstart from nothing: engine, base image, workspace
	hack/demo.sh

build: ## build the plugin into bin/
	go build -o $(BINARY) ./cmd/docker-workspace

install: build ## install the plugin for this user's docker
	mkdir -p "$(PLUGINS)"
	install -m 755 $(BINARY) "$(PLUGINS)/docker-workspace"

test: build ## vet and run every test, end-to-end tests included, starting what they need
	go vet ./...
	hack/with-engine.sh go test -count=1 ./...

race: build ## the same tests under the race detector
	CGO_ENABLED=1 hack/with-engine.sh go test -count=1 -race ./...

fuzz: ## run every fuzz target for FUZZTIME (20s)
	hack/fuzz.sh $(FUZZTIME)

e2e: build ## the end-to-end tests only
	hack/with-engine.sh go test -count=1 -v ./e2e/...

bench: build ## measure against the yardsticks, as ratios
	hack/with-engine.sh go run ./hack/bench

lint: ## golangci-lint, or vet, staticcheck and gofumpt where it cannot be built
	hack/lint.sh

fmt: ## format the Go code
	linter=$$(hack/tool.sh github.com/golangci/golangci-lint/v2/cmd/golangci-lint) && "$$linter" fmt

generate: ## write the JSON Schema and docs/manifest.md from the types of pkg/manifest
	go run ./hack/generate

check-generated: ## fail if what generate writes is stale
	go run ./hack/generate -check

cover: build ## test coverage, total and in coverage.html
	hack/with-engine.sh go test -count=1 -coverpkg=./... -coverprofile=coverage.out ./...
	go tool cover -html=coverage.out -o coverage.html
	go tool cover -func=coverage.out | tail -n 1

repro: ## build the binary twice, in two places, and compare
	hack/repro.sh

cross: ## build for linux, darwin and windows on amd64 and arm64
	hack/cross.sh

release: ## archives for every platform in dist/ (needs goreleaser and a tag)
	goreleaser release --clean
