#!/usr/bin/env bash
# Applies examples/quickstart from nothing: engine, base image, a git server on the loopback, the workspace. The plugin
# must be installed (make install). Running it again resumes the workspace.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/lib.sh

git_port=19418
scratch=$(mktemp -d)
trap cleanup EXIT

cleanup() {
	[ -z "${git_daemon:-}" ] || kill "$git_daemon" 2>/dev/null || true
	rm -rf "$scratch"
}

# step shows a command, then runs it.
step() {
	printf '\n$ %s\n' "$*"
	"$@"
}

# make_repository makes a bare repository with one commit, the same each time.
make_repository() (
	local work=$scratch/work
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
	export GIT_AUTHOR_NAME=Demo GIT_AUTHOR_EMAIL=demo@example.com GIT_AUTHOR_DATE='2024-01-01T00:00:00Z'
	export GIT_COMMITTER_NAME=Demo GIT_COMMITTER_EMAIL=demo@example.com GIT_COMMITTER_DATE='2024-01-01T00:00:00Z'
	git -c init.defaultBranch=main init -q "$work"
	echo '# Hello' >"$work/README.md"
	git -C "$work" add README.md
	git -C "$work" commit -q -m 'Say hello'
	git clone -q --bare "$work" "$scratch/served/hello.git"
)

serve_repository() {
	local tries url=git://127.0.0.1:$git_port/hello.git
	make_repository
	"$(git --exec-path)/git-daemon" --listen=127.0.0.1 --port=$git_port --reuseaddr --export-all \
		--base-path="$scratch/served" "$scratch/served" 2>"$scratch/git-daemon.log" &
	git_daemon=$!
	for ((tries = 0; tries < 50; tries++)); do
		kill -0 "$git_daemon" 2>/dev/null || break
		git ls-remote "$url" >/dev/null 2>&1 && return
		sleep 0.1
	done
	cat "$scratch/git-daemon.log" >&2
	die "git-daemon does not serve on 127.0.0.1:$git_port: free that port, then try again"
}

hack/engine.sh
DOCKER_WORKSPACE_BASE=$(hack/base-image.sh)
export DOCKER_WORKSPACE_BASE
serve_repository

apply=(docker workspace apply -f examples/quickstart/workspace.yaml --base-dir examples/quickstart)
if [ "$(docker info --format '{{.OperatingSystem}}')" = "Docker Desktop" ]; then
	export QUICKSTART_GIT_URL=git://host.docker.internal:$git_port/hello.git
else
	apply+=(--network host) # where the loopback, and with it the git server, is the host's
fi
step "${apply[@]}"
step docker workspace exec quickstart sh -c 'find . -path ./hello/.git -prune -o -print | sort'
step docker workspace exec quickstart git -C hello log --stat
step docker workspace exec quickstart project/bin/greet
cat <<'TEXT'

Get in:     docker workspace shell quickstart
Remove it:  docker workspace rm quickstart
TEXT
