# What the scripts of this folder share; sourced, never run.

log() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

die() {
	log "$*"
	exit 1
}

# apt_get runs apt-get, and again with fresh package lists when those on this machine are missing or too old.
# It is silent unless it fails.
apt_get() {
	local output command=(apt-get -y -q --no-install-recommends -o DPkg::Lock::Timeout=60 "$@")
	export DEBIAN_FRONTEND=noninteractive
	output=$("${command[@]}" 2>&1) && return
	apt-get -q update >/dev/null || log "apt-get update failed, going on with the package lists that are here"
	output=$("${command[@]}" 2>&1) && return
	printf '%s\n' "$output" >&2
	return 1
}
