#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole way on real kernels: histories of three seeds, each with one planted cost, each found.
. "$(dirname "$0")/../t/lib.sh"

tarball=$(ls /usr/src/linux-source-6.1.tar.xz 2>/dev/null) || skip_all "no linux-source-6.1 tarball"
command -v qemu-system-x86_64 >/dev/null || skip_all "no qemu-system-x86_64"
mkdir -p "$XDG_CACHE_HOME"

for seed in 1 2 3; do
	run "$root/jobs/demo/make-history" --seed "$seed" --tarball "$tarball" \
		--base-cache "$XDG_CACHE_HOME/demo-base" --out "$TMP/linux-$seed"
	is "$status" 0 "history of seed $seed" || continue
	planted=$(cat "$TMP/linux-$seed/.git/culprit-demo-planted")
	run culprit --state "$TMP/state-$seed" --repo "$TMP/linux-$seed" --json \
		bisect "$root/jobs/demo/hackbench-demo.yaml" --good demo-good --bad demo-bad
	tail -3 "$TMP/err" | sed 's/^/# /'
	is "$status" 0 "seed $seed: the bisection ends with 0"
	is "$(json 'd["outcome"]')" culprit "seed $seed: a culprit is named"
	is "$(json 'd["culprit"]')" "$planted" "seed $seed: the planted commit"
	is "$(json 'd["checks"]["parent"], d["checks"]["revert"], d["checks"]["same_code"], d["checks"]["alignment"]')" \
		"('pass', 'pass', 'pass', 'pass')" "seed $seed: confirmed, reverted, other code, aligned"
	is "$(json '5 <= abs(d["effect"]["percent"]) <= 11')" true "seed $seed: the effect is what was planted"
	json '"# seed '$seed': %+.2f%%, %d builds, %d boots, %.0f s" % (d["effect"]["percent"], d["cost"]["builds"], d["cost"]["boots"], d["cost"]["seconds"])'
done
finish
