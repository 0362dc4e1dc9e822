#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `bisect --find-fix`: the good end is slow, and the commit is looked for that made it fast again.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/project.sh"

write_job "$TMP/job.yaml"
make_project "$TMP/p" 6 1
(
	cd "$TMP/p" || exit 1
	for i in 7 8 9 10 11 12; do
		[ $i = 9 ] && echo 1000 >level
		echo $i >"file$i"
		git add -A . && git commit -qm "change $i"
	done
)
fix() { run culprit --repo "$TMP/p" --no-progress "$@" --find-fix; }

fix --json bisect "$TMP/job.yaml" --good bad --bad master
is "$status" 0 "the commit that fixed it is found"
is "$(json '[d["outcome"], d["subject"], d["looks_for"]]')" '["culprit", "change 9", "fix"]' "the right one, by the old keys"
is "$(json '8 < d["effect"]["percent"] < 14')" true "what it brought"
is "$(json '[d["checks"][k] for k in ("ends","parent","revert")]')" '["pass", "pass", "pass"]' "ends, parent and revert pass"
is "$(json '[s["name"] for s in d["sides"]]')" '["parent", "fix"]' "its sides are parent and fix"
is "$(json 'any("gives up" in n for n in d["notes"])')" true "the revert gives up the gain"
id=$(json 'd["bisect"]')

run culprit report "$id"
like "$out" "the fix is found" "the report says fix"
like "$out" "Parent against fix" "everywhere"
like "$out" "passed +without the fix at least half of the gain is gone" "in its checks"
like "$out" "before .*change 6" "the slow end is called before"
like "$out" "--find-fix" "and so does the command to do it again"
unlike "$out" "culprit is found|good and bad" "and nothing of a culprit"
run culprit mail "$id"
like "$err" "[Nn]o mail for a fix" "no mail blames a fix"
: >"$TMP/a.diff"
run culprit verify "$id" --patch "$TMP/a.diff"
is "$status" 129 "and there is nothing to verify"

# the same ends without the option are another question
run culprit --repo "$TMP/p" --no-progress --json bisect "$TMP/job.yaml" --good bad --bad master
is "$status" 1 "an improvement is no regression"
is "$(json '[d["outcome"], d["culprit"], d["looks_for"]]')" '["not-reproduced", null, "regression"]' "not reproduced"
like "$(json 'd["notes"]')" "swapped" "and the notes ask whether the ends are swapped"
fix --json bisect "$TMP/job.yaml" --good good --bad bad
is "$(json '[d["outcome"], d["culprit"]]')" '["not-reproduced", null]' "where it only got slower, there is no fix"
like "$(json 'd["notes"]')" "nothing was fixed" "and the notes say so"
fix bisect "$TMP/job.yaml" --good auto --bad master
is "$status" 129 "a good end by itself is none of a fix"
finish
