#!/usr/bin/env bash
# Runs a command with what the end-to-end tests need: an engine, a base image, and the environment that names them.
set -euo pipefail
cd "$(dirname "$0")/.."

hack/engine.sh
DOCKER_WORKSPACE_TEST_BASE=$(hack/base-image.sh)
export DOCKER_WORKSPACE_TEST_BASE
export DOCKER_WORKSPACE_BIN=$PWD/bin/docker-workspace
export TESTCONTAINERS_RYUK_DISABLED=true # the tests clean up after themselves; its image need not be pullable
exec "$@"
