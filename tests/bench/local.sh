#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The local runner against a bare shell loop: 200 runs of `true`, in turn, five times each.
set -eu
culprit=${BUILD:-build}/culprit
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/true.yaml" <<'YAML'
culprit: 1
name: "true"
runner: local
run: {command: 'true', timeout: 5s}
metrics:
  one: {derive: '1', better: higher, kpi: true}
boots: {min: 1, max: 1}
iterate: {min: 200, max: 200}
YAML
now() { date +%s%N; }
best_ours= best_shell=
for _ in 1 2 3 4 5; do
	start=$(now)
	"$culprit" --state "$tmp/state" --cache "$tmp/cache" -q run "$tmp/true.yaml" >/dev/null
	ours=$(($(now) - start))
	start=$(now)
	for _ in $(seq 200); do sh -c true; done
	shell=$(($(now) - start))
	[ -z "$best_ours" ] || [ $ours -lt "$best_ours" ] && best_ours=$ours
	[ -z "$best_shell" ] || [ $shell -lt "$best_shell" ] && best_shell=$shell
done
awk -v o="$best_ours" -v s="$best_shell" 'BEGIN {
	printf "local runner, 200 runs of true: %.2f times a shell loop (goal 1.2), %.2f ms a run (goal 5)\n",
		o / s, o / 2e8 }'
