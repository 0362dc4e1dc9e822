#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds of a real kernel: what changes identity and code hash, what does not, and commits that do not build.
. "$(dirname "$0")/../t/lib.sh"

tarball=$(ls /usr/src/linux-source-6.1.tar.xz 2>/dev/null) || skip_all "no linux-source-6.1 tarball"
mkdir -p "$XDG_CACHE_HOME"
free=$(df --output=avail -B1M "$TMP" | tail -1)
[ "$free" -ge 12000 ] || skip_all "not 12 GB free"

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

cat > "$TMP/fragment" <<X
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
export CCACHE_DIR=$TMP/ccache # a cold one, so that two places do not share objects
build() { # NAME CACHE REV [TIMEOUT]: sets $out and $status, and what was printed as NAME_...
	run "$TMP/build_one" "$repo" "$2" "$3" "$TMP/fragment" "$TMP/log-$1" "${4:-3600}"
	while IFS='=' read -r key value; do
		printf -v "$1_$key" '%s' "$value"
	done <<<"$out"
	[ "$status" = 0 ] || echo "# $1: $(tr '\n' ' ' <<<"$out")"
}

build base "$TMP/cache" demo-good
is "$status" 0 "the base builds" || { tail -5 "$TMP/log-base" | sed 's/^/# /'; finish; exit; }
echo "# $base_seconds s from nothing"
like "$base_identity" '^vmlinux [0-9a-f]{40} binfmt_misc [0-9a-f]{40} $' "build-ids of vmlinux and module"
is "$(readelf -n "$TMP"/cache/builds/*/obj/vmlinux | sed -n 's/.*Build ID: //p')" \
	"$(cut -d' ' -f2 <<<"$base_identity")" "as readelf tells them"
like "$(cat "$base_dir/sources")" '^kernel/fork.c$' "what was compiled is among the sources"
unlike "$(cat "$base_dir/sources")" '^net/ipv4/tcp.c$' "what was not is not"
ok "$([ -s "$base_modules/$base_release/kernel/fs/binfmt_misc.ko" ]; echo $?)" "the module is stored"

build again "$TMP/cache" demo-good
is "$again_from_cache" 1 "the second time it comes from the store"

comment=$(commit kernel/fork.c '1a /* a line\n * or two */')
build comment "$TMP/cache" "$comment"
echo "# $comment_seconds s for a comment"
is "$comment_code_hash" "$base_code_hash" "a comment that shifts WARN_ON lines gives the same code hash"
is "$([ "$comment_identity" != "$base_identity" ] && echo other)" other "though debug information gives other build-ids"

module=$(commit fs/binfmt_misc.c 's/count > MAX_REGISTER_LENGTH/count > MAX_REGISTER_LENGTH + 1/')
build module "$TMP/cache" "$module"
is "$(cut -d' ' -f1,2 <<<"$module_identity")" "$(cut -d' ' -f1,2 <<<"$base_identity")" "a change in a module leaves vmlinux"
is "$([ "$module_identity" != "$base_identity" ] && [ "$module_code_hash" != "$base_code_hash" ] && echo other)" other \
	"and is seen in identity and code hash"

broken=$(commit kernel/fork.c '$a int broken(void) { return no_such_thing; }')
build broken "$TMP/cache" "$broken"
is "$status $broken_error $broken_phase" "125 untestable build" "a commit that does not compile is untestable"
like "$broken_message" "kernel/fork.c:[0-9]+:[0-9]+: error: .no_such_thing" "with the error"
build broken2 "$TMP/cache" "$broken"
ok "$([ ! -e "$TMP/log-broken2" ]; echo $?)" "and is not tried twice"

hangs=$(commit init/Makefile '1i $(shell sleep 3607.5)')
build hangs "$TMP/cache" "$hangs" 60
is "$status $hangs_error" "125 untestable" "a build that never ends is untestable"
like "$hangs_message" "did not end within" "by its deadline"
ok "$(pgrep -f 'sleep 3607.5' >/dev/null && echo 1 || echo 0)" "and nothing of it is left"

build elsewhere "$TMP/another place's/../deep/er/cache" demo-good
is "$elsewhere_error" usage "a cache whose path make cannot take is refused"
build elsewhere "$TMP/deep/er/cache" demo-good
is "$elsewhere_from_cache" 0 "a build in another place"
is "$elsewhere_identity" "$base_identity" "gives the same identity, with debug information"
is "$elsewhere_code_hash" "$base_code_hash" "and the same code"
finish
