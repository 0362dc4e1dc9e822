#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds of a real kernel with debug information and a module: what changes identity and code hash, what
# does not, and that the place of the cache is not in it. Two builds from nothing, two incremental ones.
. "$(dirname "$0")/../t/lib.sh"

tarball=$(ls /usr/src/linux-source-6.1.tar.xz 2>/dev/null) || skip_all "no linux-source-6.1 tarball"
mkdir -p "$XDG_CACHE_HOME"
free=$(df --output=avail -B1M "$TMP" | tail -1)
[ "$free" -ge 8000 ] || skip_all "not 8 GB free"

# shellcheck disable=SC2046
cc -std=gnu11 -D_GNU_SOURCE -I"$root" -o "$TMP/build_one" "$root/tests/kernel/build_one.c" "$BUILD/libculprit.a" \
	$(pkg-config --libs libgit2 sqlite3 yaml-0.1 jansson libpcre2-8 libRmath nettle libelf) -lm || exit 1
repo=$TMP/linux
run "$root/jobs/demo/make-history" --seed 1 --tarball "$tarball" --base-cache "$XDG_CACHE_HOME/demo-base" --out "$repo"
is "$status" 0 "a kernel history" || { finish; exit; }

# commit FILE SED-SCRIPT: on top of the base, by plumbing, since the repository has no files checked out
commit() {
	local blob
	export GIT_INDEX_FILE=$TMP/index GIT_DIR=$repo/.git
	git read-tree demo-good
	blob=$(git cat-file blob "demo-good:$1" | sed "$2" | git hash-object -w --stdin)
	git update-index --cacheinfo "100644,$blob,$1"
	git commit-tree -p demo-good -m "test" "$(git write-tree)"
	unset GIT_INDEX_FILE GIT_DIR
}

cat >"$TMP/fragment" <<X
CONFIG_64BIT=y
CONFIG_PRINTK=y
CONFIG_BUG=y
CONFIG_DEBUG_BUGVERBOSE=y
CONFIG_BINFMT_ELF=y
CONFIG_MODULES=y
CONFIG_BINFMT_MISC=m
CONFIG_DEBUG_KERNEL=y
CONFIG_DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT=y
X
build() { # NAME CACHE REV: sets $status, and what was printed as NAME_...
	run "$TMP/build_one" "$repo" "$2" "$3" "$TMP/fragment" "$TMP/log-$1" 3600
	while IFS='=' read -r key value; do
		printf -v "$1_$key" '%s' "$value"
	done <<<"$out"
	[ "$status" = 0 ] || echo "# $1: $(tr '\n' ' ' <<<"$out")"
}
field() { # N IDENTITY: "vmlinux HEX module HEX"
	cut -d' ' -f"$1" <<<"$2"
}
isnt() { # GOT NOT TEXT
	[ -n "$1" ] && [ "$1" != "$2" ]
	ok $? "$3" || echo "# both: $1"
}

build base "$TMP/cache" demo-good
is "$status" 0 "the base builds" || { tail -5 "$TMP/log-base" | sed 's/^/# /'; finish; exit; }
echo "# $base_seconds s from nothing"
like "$base_identity" '^vmlinux [0-9a-f]{40} binfmt_misc [0-9a-f]{40} $' "build-ids of vmlinux and module"
is "$(field 2 "$base_identity")" "$(readelf -n "$TMP"/cache/builds/*/obj/vmlinux | sed -n 's/.*Build ID: //p')" \
	"as readelf tells them"
like "$(readelf -SW "$TMP"/cache/builds/*/obj/vmlinux)" '\.debug_info' "with debug information"
like "$(cat "$base_dir/sources")" '^kernel/fork.c$' "what was compiled is among the sources"
unlike "$(cat "$base_dir/sources")" '^net/ipv4/tcp.c$' "what was not is not"
ok "$([ -s "$base_modules/$base_release/kernel/fs/binfmt_misc.ko" ]; echo $?)" "the module is stored"

comment=$(commit kernel/fork.c '1a /* a line\n * or two */')
build comment "$TMP/cache" "$comment"
echo "# $comment_seconds s for a comment"
is "$comment_code_hash" "$base_code_hash" "a comment that shifts the lines of WARN_ON gives the same code hash"
isnt "$comment_identity" "$base_identity" "though debug information gives another build-id"

module=$(commit fs/binfmt_misc.c 's/count > MAX_REGISTER_LENGTH/count > MAX_REGISTER_LENGTH + 1/')
build module "$TMP/cache" "$module"
echo "# $module_seconds s for a change in a module"
is "$(field 2 "$module_identity")" "$(field 2 "$base_identity")" "a change in a module leaves vmlinux"
isnt "$(field 4 "$module_identity")" "$(field 4 "$base_identity")" "and is another module"
isnt "$module_code_hash" "$base_code_hash" "and other code"

finish
