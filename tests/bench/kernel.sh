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
job=$tmp/once.yaml # the demo's kernels, in one short boot
sed "s/^boots: .*/boots: {min: 1, max: 1}/; s/-l 1000/-l 1/; s|fragments: \\[|&$root/jobs/|" \
	"$root/jobs/demo/hackbench-demo.yaml" >"$job"
run() { "$culprit" --state "$tmp/state" --cache "$cache/culprit" --repo "$tmp/linux" -q run "$job" "$@" >/dev/null; }
sql() { sqlite3 "$tmp/state/culprit.db" "$1"; }
now() { date +%s%N; }
least() { # A B: the smaller; A may be empty
	if [ -z "$1" ] || [ "$2" -lt "$1" ]; then echo "$2"; else echo "$1"; fi
}

# --- boot: the agent's hello is the first thing on the second serial port, by hand and by culprit ---
run demo-good
key=$(sql "SELECT key FROM kernels LIMIT 1")
image=$cache/culprit/kernels/$key/bzImage
initrd=$(ls -t "$cache"/culprit/initramfs/*.cpio | head -1)
by_hand() { # prints nanoseconds to the first byte
	local start pid

	start=$(now)
	exec 3< <(exec qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot -accel tcg \
		-icount shift=3,sleep=off -rtc clock=vm -smp 1 -m 256M -kernel "$image" -initrd "$initrd" \
		-append "console=ttyS0 panic=-1 oops=panic culprit.port=ttyS1 culprit.wait=spin nolapic" \
		-serial "file:$tmp/console" -serial stdio </dev/null 2>/dev/null)
	pid=$!
	head -c 1 <&3 >/dev/null
	echo $(($(now) - start))
	kill $pid
	wait $pid 2>/dev/null || :
	exec 3<&-
}
hand='' ours=''
for _ in 1 2 3 4 5 6 7 8; do # in turns, so that what else this machine does falls on both; the best counts
	t=$(by_hand)
	hand=$(least "$hand" "$t")
	run demo-good
	t=$(sql "SELECT cast(boot_seconds * 1e9 AS integer) FROM boots ORDER BY id DESC LIMIT 1")
	ours=$(least "$ours" "$t")
done
awk -v o="$ours" -v h="$hand" 'BEGIN {
	printf "boot to the first run: %.2f times bare QEMU with the same image (%.2f s, goal 1.1)\n", o / h, h / 1e9 }'

# --- step: from one commit to the next and back, alternating; ccache is off for both ---
export CCACHE_DISABLE=1
a=$(git -C "$tmp/linux" rev-parse demo-good)
b=$(git -C "$tmp/linux" rev-list --reverse demo-good..demo-bad | head -1)
tree=$(ls -dt "$cache"/culprit/worktrees/kernel-*/ | head -1)
tree=${tree%/}
obj=$cache/culprit/builds/$(basename "$tree")/obj
forget() { sql "SELECT key FROM kernels WHERE commit_sha = '$1'" | while read -r k; do rm -rf "$cache/culprit/kernels/$k"; done; }
run "$b"
best_ours='' best_hand=''
for _ in 1 2 3 4; do
	forget "$a"
	run "$a"
	best_ours=$(least "$best_ours" \
		"$(sql "SELECT cast(build_seconds * 1e9 AS integer) FROM kernels WHERE commit_sha = '$a'")")
	start=$(now)
	git -C "$tree" checkout -q --force --detach "$b"
	for target in olddefconfig bzImage; do
		LOCALVERSION='' KBUILD_BUILD_USER=culprit KBUILD_BUILD_HOST=culprit KBUILD_BUILD_VERSION=1 \
			KBUILD_BUILD_TIMESTAMP='Wed Jan  1 00:00:00 UTC 2020' LC_ALL=C TZ=UTC \
			make -C "$tree" -j"$(nproc)" O="$obj" ARCH=x86_64 CC="ccache gcc" HOSTCC="ccache gcc" \
			KCFLAGS="-ffile-prefix-map=$tree/= -ffile-prefix-map=$obj=. -falign-functions=64" \
			KAFLAGS="-fdebug-prefix-map=$tree/= -fdebug-prefix-map=$obj=." $target >"$tmp/make.log" 2>&1
	done
	best_hand=$(least "$best_hand" $(($(now) - start)))
done
awk -v o="$best_ours" -v h="$best_hand" 'BEGIN {
	printf "one incremental step: %.2f times checkout and make by hand (%.1f s, goal 1.1)\n", o / h, h / 1e9 }'
