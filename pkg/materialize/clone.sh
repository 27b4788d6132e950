# Clones one repository into a directory, which may exist and hold files.
# Arguments: destination, URL, ref (may be empty), depth (0: all), subpath.
# Prints "commit HASH" on success. Exit codes are read by the caller.
set -eu
dest=$1 url=$2 ref=$3 depth=$4 subpath=$5
no_git=71 no_remote=72 no_ref=73 no_fetch=74 no_checkout=75 no_subpath=76 no_dest=77

command -v git >/dev/null 2>&1 || exit $no_git
mkdir -p -- "$dest" && cd -- "$dest" || exit $no_dest

# A subpath is written without the repository around it, so that the git
# directory lives elsewhere and goes away with the script.
if [ -n "$subpath" ]; then
	GIT_DIR=$(mktemp -d) || exit $no_dest
	made=$GIT_DIR
	export GIT_DIR GIT_WORK_TREE="$dest"
else
	made=
	[ -e .git ] || made=$dest/.git
fi
done=
finish() { [ -z "$made" ] || { [ -n "$done" ] && [ -z "$subpath" ]; } || rm -rf -- "$made"; }
trap finish EXIT
trap 'exit 130' HUP INT TERM

git init -q --template= || exit $no_dest
git config remote.origin.url "$url"

fetch() {
	if [ "$depth" = 0 ]; then
		git fetch -q --no-tags origin "$@"
	else
		git fetch -q --no-tags --depth "$depth" origin "$@"
	fi
}

# Everything, for servers that do not hand out a commit by its name.
fetch_all() {
	if [ -f "$(git rev-parse --git-dir)/shallow" ]; then
		git fetch -q --unshallow origin '+refs/heads/*:refs/remotes/origin/*' '+refs/tags/*:refs/tags/*'
	else
		git fetch -q origin '+refs/heads/*:refs/remotes/origin/*' '+refs/tags/*:refs/tags/*'
	fi
}

track() { git config remote.origin.fetch "+refs/heads/$1:refs/remotes/origin/$1"; }

# Each sets commit, and branch where the ref is one.
branch='' commit=''
by_branch() {
	track "$1"
	fetch "+refs/heads/$1:refs/remotes/origin/$1" || exit $no_fetch
	branch=$1 commit=$(git rev-parse "refs/remotes/origin/$1^{commit}")
}
by_tag() {
	fetch "+refs/tags/$1:refs/tags/$1" || exit $no_fetch
	commit=$(git rev-parse "refs/tags/$1^{commit}")
}
by_head() {
	listing=$(git ls-remote --symref origin HEAD) || exit $no_remote
	[ -n "$listing" ] || exit $no_ref
	head=$(printf '%s\n' "$listing" | sed -n 's,^ref: refs/heads/\(.*\)	HEAD$,\1,p')
	if [ -n "$head" ]; then
		by_branch "$head"
	else
		fetch HEAD || exit $no_fetch
		commit=$(git rev-parse FETCH_HEAD^{commit})
	fi
}
by_name() {
	case $1 in
	*[*?[]*) exit $no_ref ;;
	refs/heads/*) name=${1#refs/heads/} ;;
	refs/tags/*) name=${1#refs/tags/} ;;
	*) name=$1 ;;
	esac
	listing=$(git ls-remote origin "refs/heads/$name" "refs/tags/$name") || exit $no_remote
	case $listing in
	*"	refs/heads/$name"*) case $1 in refs/tags/*) ;; *) by_branch "$name" && return ;; esac ;;
	esac
	case $listing in
	*"	refs/tags/$name"*) case $1 in refs/heads/*) ;; *) by_tag "$name" && return ;; esac ;;
	esac
	return 1
}
by_commit() {
	if fetch "$1" 2>/dev/null; then
		commit=$(git rev-parse 'FETCH_HEAD^{commit}')
	fi
}
by_search() {
	fetch_all || exit $no_remote
	commit=$(git rev-parse -q --verify "$1^{commit}") || exit $no_ref
}
is_hash() {
	case $1 in *[!0-9a-f]*) return 1 ;; esac
	[ ${#1} -ge 7 ]
}
is_full_hash() { is_hash "$1" && { [ ${#1} = 40 ] || [ ${#1} = 64 ]; }; }

if [ -z "$ref" ]; then
	by_head
elif is_full_hash "$ref"; then
	by_commit "$ref"
	[ -n "$commit" ] || by_name "$ref" || by_search "$ref"
elif is_hash "$ref"; then
	by_name "$ref" || by_search "$ref"
else
	by_name "$ref" || exit $no_ref
fi
if is_full_hash "$ref" && [ -z "$branch" ] && [ "$commit" != "$ref" ]; then
	echo "the server gave commit $commit for $ref" >&2
	exit $no_ref
fi

if [ -n "$subpath" ]; then
	tree=$(git rev-parse -q --verify "$commit:$subpath") || exit $no_subpath
	[ "$(git cat-file -t "$tree")" = tree ] || exit $no_subpath
	git read-tree "$tree" && git checkout-index -q -a -f || exit $no_checkout
elif [ -n "$branch" ]; then
	git checkout -q -f -B "$branch" "refs/remotes/origin/$branch" -- || exit $no_checkout
else
	git checkout -q -f --detach "$commit" -- || exit $no_checkout
fi
done=1
echo "commit $commit"
