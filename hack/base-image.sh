#!/usr/bin/env bash
# Makes sure that the engine has a sandbox base image, and prints its name: the one that DOCKER_WORKSPACE_BASE names, or
# the default base of a manifest, or, where that cannot be pulled, one built from the packages of this Debian machine.
# The built image has the id that its package versions, sandbox-packages.txt and this script determine.
set -euo pipefail
umask 022
export LC_ALL=C
cd "$(dirname "$0")/.."
. hack/lib.sh

package_list=hack/sandbox-packages.txt
default_base=buildpack-deps:bookworm-scm
recipe_label=io.github.docker-workspace.sandbox-recipe

present() { docker image inspect "$1" >/dev/null 2>&1; }

pull() {
	log "pulling $1"
	docker pull -q "$1" >/dev/null
}

# built_from tells whether image $1 was built by recipe $2, this script and its list as they are now.
built_from() {
	[ "$(docker image inspect --format "{{index .Config.Labels \"$recipe_label\"}}" "$1" 2>/dev/null)" = "$2" ]
}

# fetch_packages downloads the listed packages and all that they depend on into $1, as if nothing were installed.
fetch_packages() {
	local packages
	mapfile -t packages <$package_list
	mkdir -p "$1/partial"
	: >"$1/status"
	apt_get install --download-only -o Dir::State::status="$1/status" -o Dir::Cache::archives="$1" \
		-o Debug::NoLocking=true -o APT::Sandbox::User= "${packages[@]}"
}

# unpack_packages unpacks the packages of $1 into $2, which gets Debian's links from /bin to /usr/bin and so on.
unpack_packages() {
	local dir package
	for dir in bin lib lib64 sbin; do
		mkdir -p "$2/usr/$dir"
		ln -s "usr/$dir" "$2/$dir"
	done
	for package in "$1"/*.deb; do
		dpkg-deb --fsys-tarfile "$package" | tar -x -p -C "$2" --no-same-owner --keep-directory-symlink
	done
}

# configure does in $1 what the packages' own scripts do when they are installed, and drops what slim images drop.
configure() (
	cd "$1"
	cp usr/share/base-passwd/passwd.master etc/passwd
	cp usr/share/base-passwd/group.master etc/group
	cp usr/share/base-files/profile etc/profile
	cp usr/share/base-files/dot.bashrc root/.bashrc
	cp usr/share/base-files/dot.profile root/.profile
	cat usr/share/ca-certificates/mozilla/*.crt >etc/ssl/certs/ca-certificates.crt
	ln -s mawk usr/bin/awk
	ln -s less usr/bin/pager
	ln -s which.debianutils usr/bin/which
	rmdir var/run var/lock
	ln -s /run var/run
	ln -s /run/lock var/lock
	mkdir -p media mnt opt run/lock srv usr/local/bin usr/local/lib usr/local/sbin usr/local/share var/mail
	chmod 1777 run/lock tmp var/tmp
	rm -rf usr/share/info/* usr/share/lintian usr/share/locale/* usr/share/man/*
	find usr/share/doc ! -type d ! -name copyright -delete
)

deterministic_tar() { tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime=@0 "$@"; }

# write_archive writes root file system $1 as a one-layer docker-archive of name $2 and recipe $3 to standard output;
# $4 is a directory for its parts.
write_archive() {
	local diff_id epoch=1970-01-01T00:00:00Z
	deterministic_tar -C "$1" -cf "$4/layer.tar" .
	diff_id=sha256:$(sha256sum <"$4/layer.tar" | cut -d' ' -f1)
	cat >"$4/config.json" <<-JSON
		{"architecture": "$(dpkg --print-architecture)", "os": "linux", "created": "$epoch",
		 "config": {"Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"], "Cmd": ["bash"],
		  "Labels": {"$recipe_label": "$3"}},
		 "rootfs": {"type": "layers", "diff_ids": ["$diff_id"]},
		 "history": [{"created": "$epoch", "created_by": "hack/base-image.sh"}]}
	JSON
	echo "[{\"Config\": \"config.json\", \"RepoTags\": [\"$2\"], \"Layers\": [\"layer.tar\"]}]" >"$4/manifest.json"
	deterministic_tar -C "$4" -c config.json layer.tar manifest.json
}

# build builds image $1 by recipe $2.
build() {
	command -v apt-get >/dev/null ||
		die "nothing can be pulled and this is not Debian: set DOCKER_WORKSPACE_BASE to an image that has a shell and git, or build one with 'docker build --target sandbox -t $1 .'"
	log "building $1 from Debian packages"
	docker image rm "$1" >/dev/null 2>&1 || true # one of an older recipe, unless a container uses it
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	mkdir "$scratch/root" "$scratch/image"
	fetch_packages "$scratch/packages" || die "apt-get cannot download the packages of $package_list: see above"
	unpack_packages "$scratch/packages" "$scratch/root"
	configure "$scratch/root"
	write_archive "$scratch/root" "$1" "$2" "$scratch/image" | docker load -q >&2
}

if [ -n "${DOCKER_WORKSPACE_BASE:-}" ]; then
	present "$DOCKER_WORKSPACE_BASE" || pull "$DOCKER_WORKSPACE_BASE" ||
		die "DOCKER_WORKSPACE_BASE names an image that cannot be pulled: correct or unset it"
	echo "$DOCKER_WORKSPACE_BASE"
	exit
fi
sandbox=docker-workspace/sandbox:$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-local}" || echo local)
recipe=$(cat hack/base-image.sh $package_list | git hash-object --stdin)
if present "$default_base"; then
	echo "$default_base"
elif built_from "$sandbox" "$recipe"; then
	echo "$sandbox"
elif pull "$default_base"; then
	echo "$default_base"
else
	build "$sandbox" "$recipe"
	echo "$sandbox"
fi
