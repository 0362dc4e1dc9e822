#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Beside doing it by hand: boot to the first run against bare QEMU with the same image, and one
# incremental build step against git checkout and make in the same trees. Needs a kernel history,
# which the demo makes; with an empty cache the first kernel build comes on top.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
culprit=$root/${BUILD:-build}/culprit
cache=${CULPRIT_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/culprit-tests}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$cache"
"$root/jobs/demo/make-history" --seed 1 --base-cache "$cache/demo-base" --out "$tmp/linux" >/dev/null
job=$root/jobs/demo/hackbench-demo.yaml
run() { "$culprit" --state "$tmp/state" --cache "$cache/culprit" --repo "$tmp/linux" -q run "$job" "$@" >/dev/null; }
sql() { sqlite3 "$tmp/state/culprit.db" "$1"; }
now() { date +%s%N; }

# --- boot: the agent's hello is the first thing on the second serial port, by hand and by culprit ---
run demo-good
key=$(sql "SELECT key FROM kernels LIMIT 1")
image=$(find "$cache/culprit/kernels/$key" -name bzImage)
initrd=$(ls -t "$cache"/culprit/initramfs/*.cpio | head -1)
by_hand() {
	rm -f "$tmp/agent"
	local start=$(now)
	qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot -accel tcg -icount shift=3,sleep=off \
		-rtc clock=vm -smp 1 -m 256M -kernel "$image" -initrd "$initrd" \
		-append "console=ttyS0 panic=-1 oops=panic culprit.port=ttyS1 culprit.wait=spin nolapic" \
		-serial "file:$tmp/console" -serial "file:$tmp/agent" &
	local pid=$!
	for _ in $(seq 1 12000); do # a minute
		[ -s "$tmp/agent" ] && break
		read -rt 0.005 <> <(:) || :
	done
	echo $(($(now) - start))
	kill $pid
	wait $pid 2>/dev/null || :
}
hand=$(for _ in 1 2 3 4 5; do by_hand 2>/dev/null; done | sort -n | head -1)
ours=$(sql "SELECT cast(min(boot_seconds) * 1e9 AS integer) FROM boots WHERE boot_seconds > 0")
awk -v o="$ours" -v h="$hand" 'BEGIN {
	printf "boot to the first run: %.2f times bare QEMU with the same image (goal 1.1)\n", o / h }'

# --- step: from one commit to the next and back, alternating; ccache is off for both ---
export CCACHE_DISABLE=1
a=$(git -C "$tmp/linux" rev-parse demo-good)
b=$(git -C "$tmp/linux" rev-list --reverse demo-good..demo-bad | head -1)
tree=$(ls -dt "$cache"/culprit/worktrees/kernel-*/ | head -1)
tree=${tree%/}
obj=$cache/culprit/builds/$(basename "$tree")/obj
forget() { sql "SELECT key FROM kernels WHERE commit_sha = '$1'" | while read -r k; do rm -rf "$cache/culprit/kernels/$k"; done; }
run "$b"
best_ours= best_hand=
for _ in 1 2 3; do
	forget "$a"
	start=$(now)
	"$culprit" --state "$tmp/state" --cache "$cache/culprit" --repo "$tmp/linux" -q --json run "$job" "$a" >/dev/null
	seconds=$(sql "SELECT cast(build_seconds * 1e9 AS integer) FROM kernels WHERE commit_sha = '$a'")
	[ -z "$best_ours" ] || [ "$seconds" -lt "$best_ours" ] && best_ours=$seconds
	start=$(now)
	git -C "$tree" checkout -q --force --detach "$b"
	for target in olddefconfig bzImage; do
		LOCALVERSION='' KBUILD_BUILD_USER=culprit KBUILD_BUILD_HOST=culprit KBUILD_BUILD_VERSION=1 \
			KBUILD_BUILD_TIMESTAMP='Wed Jan  1 00:00:00 UTC 2020' \
			make -C "$tree" -j"$(nproc)" O="$obj" ARCH=x86_64 CC="ccache gcc" HOSTCC="ccache gcc" \
			KCFLAGS="-ffile-prefix-map=$tree/= -ffile-prefix-map=$obj=. -falign-functions=64" \
			KAFLAGS="-fdebug-prefix-map=$tree/= -fdebug-prefix-map=$obj=." $target >"$tmp/make.log" 2>&1
	done
	hand=$(($(now) - start))
	[ -z "$best_hand" ] || [ "$hand" -lt "$best_hand" ] && best_hand=$hand
done
awk -v o="$best_ours" -v h="$best_hand" 'BEGIN {
	printf "one incremental step: %.2f times checkout and make by hand (goal 1.1)\n", o / h }'
