#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Histories made for bisections: any seed gives the same kind of history, the same seed the same ids.
. "$(dirname "$0")/lib.sh"

make=$root/jobs/demo/make-quick
tip() { git -C "$TMP/$1" rev-parse demo-bad; }

run "$make" --seed 1 --out "$TMP/a"
is "$status" 0 "a history is made"
run "$make" --seed 1 --out "$TMP/b" --base-cache "$TMP/other.git"
is "$(tip b)" "$(tip a)" "the same seed gives the same commits, also from nothing"
run "$make" --seed 1 --out "$TMP/a"
is "$status" 0 "over a history that is there"
is "$(tip a)" "$(tip b)" "the same again"

places='' wrong=''
for seed in $(seq 2 7); do
	run "$make" --seed "$seed" --out "$TMP/$seed"
	repo=$TMP/$seed
	planted=$(cat "$repo/.git/culprit-demo-planted")
	is_merge=$(git -C "$repo" rev-list --count --merges "$planted^..$planted")
	[ "$(git -C "$repo" rev-list --count demo-good..demo-bad)" = 25 ] || wrong+=" $seed"
	[ "$(git -C "$repo" rev-list --count --merges demo-good..demo-bad) $is_merge" = "1 0" ] || wrong+=" $seed"
	git -C "$repo" merge-base --is-ancestor "$planted" demo-bad || wrong+=" $seed"
	git -C "$repo" grep -q MORE_SLOTS "$planted" -- table.c || wrong+=" $seed"
	! git -C "$repo" grep -q MORE_SLOTS "$planted^" -- table.c || wrong+=" $seed"
	! git -C "$repo" grep -q position_t "$planted^" -- sort.c ||
		git -C "$repo" grep -q 'typedef size_t position_t' "$planted^" -- sort.c || wrong+=" $seed"
	places+="$(git -C "$repo" rev-list --count "demo-good..$planted")"$'\n'
done
is "$wrong" "" "one merge, and a planted commit whose parent compiles, whatever the seed"
[ "$(sort -u <<<"$places" | wc -l)" -gt 2 ]
ok $? "the seed moves the planted commit"

# every commit of one history is built: only the one that is broken on purpose fails
git -C "$TMP/a" worktree add -q --detach "$TMP/tree" demo-good
broken=0 good=0
for commit in $(git -C "$TMP/a" rev-list demo-good..demo-bad); do
	git -C "$TMP/tree" checkout -q "$commit"
	if make -s -C "$TMP/tree" clean bench >/dev/null 2>&1; then
		good=$((good + 1))
	else
		broken=$((broken + 1))
	fi
done
is "$good $broken" "24 1" "all commits compile but the one made not to"

run "$root/jobs/demo/make-history" --seed 1 --out "$TMP/c" --tarball "$TMP/nothing"
is "$status" 1 "a missing tarball is an error"
like "$err" "linux-source-6.1" "that names the package"
finish
