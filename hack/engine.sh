#!/usr/bin/env bash
# Makes sure that a Docker engine answers where DOCKER_HOST or the current Docker context points, and prints its version.
# On Debian, as root and with nothing else configured, that means: installs docker.io and starts dockerd if need be,
# also where an unclean stop left pid files and a socket behind. It never stops or restarts anything.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/lib.sh

socket=unix:///var/run/docker.sock
dockerd_log=/var/log/dockerd.log

answers() {
	local version
	version=$(docker version --format '{{.Server.Version}}' 2>/dev/null) && log "Docker Engine $version"
}

# endpoint is the address that the docker CLI talks to.
endpoint() {
	docker context inspect --format '{{.Endpoints.docker.Host}}' 2>/dev/null || echo "${DOCKER_HOST:-$socket}"
}

# require_startable stops where the engine is not ours to start.
require_startable() {
	local at
	at=$(endpoint)
	[ "$at" = "$socket" ] ||
		die "no engine answers at $at: start it, or choose another with DOCKER_HOST or 'docker context use'"
	[ "$(uname -s)" = Linux ] || die "no engine answers: start Docker Desktop, then try again"
	[ "$(id -u)" = 0 ] ||
		die "no engine answers at $at: start it ('sudo systemctl start docker'), and join its group ('sudo usermod -aG docker $(id -un)')"
	command -v apt-get >/dev/null || command -v dockerd >/dev/null ||
		die "no engine answers at $at: install Docker (https://docs.docker.com/engine/install/), then try again"
}

# runs PIDFILE NAME tells whether the process of the pid file is alive and really NAME. A file that an unclean stop left
# is removed: its number may be another process's by now, or a zombie's, and dockerd would refuse to start or wait for it.
runs() {
	local pid
	pid=$(cat "$1" 2>/dev/null) || return
	! grep -qs "^$pid ($2) [^ZX]" "/proc/$pid/stat" || return 0
	log "removing $1, left by an unclean stop"
	rm -f "$1"
	return 1
}

# start_dockerd starts the engine unless it is on its way already.
start_dockerd() {
	runs /var/run/docker.pid dockerd && return
	runs /var/run/docker/containerd/containerd.pid containerd || true
	if [ -d /run/systemd/system ]; then
		systemctl start docker
		return
	fi
	log "starting dockerd, its log is $dockerd_log"
	setsid dockerd >>"$dockerd_log" 2>&1 </dev/null 9>&- &
	started=$!
}

wait_for_engine() {
	local tries
	for ((tries = 0; tries < 300; tries++)); do
		answers && return
		[ -z "$started" ] || kill -0 "$started" 2>/dev/null || break
		sleep 0.1
	done
	[ ! -s "$dockerd_log" ] || tail -n 20 "$dockerd_log" >&2
	die "dockerd does not answer at $socket: see $dockerd_log or 'journalctl -u docker' for the reason"
}

answers && exit
require_startable
exec 9>/run/lock/docker-workspace-engine
flock 9 # two of us start one engine
answers && exit
command -v dockerd >/dev/null || {
	log "installing docker.io"
	apt_get install --no-upgrade docker.io ca-certificates || die "apt-get cannot install docker.io: see above"
}
started=
start_dockerd
wait_for_engine
