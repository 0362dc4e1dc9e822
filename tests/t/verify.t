#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A fix of what a bisection found: bad, bad with the patch, good.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/project.sh"

write_job "$TMP/job.yaml"
make_project "$TMP/p" 8 4
run culprit --repo "$TMP/p" --json bisect "$TMP/job.yaml" --good good --bad bad
is "$status" 0 "a bisection to fix"
id=$(json 'd["bisect"]')

patch_to() { # LEVEL FILE
	(cd "$TMP/p" && git checkout -q bad && echo "$1" >level && git diff >"$TMP/$2" && git checkout -q -f master)
}
patch_to 1000 whole-fix.diff
patch_to 930 third.diff
patch_to 850 worse.diff
printf -- '--- a/none\n+++ b/none\n@@ -1 +1 @@\n-x\n+y\n' >"$TMP/other.diff"

cd "$TMP" || exit 1
run culprit verify "$id" --patch whole-fix.diff
is "$status" 0 "a patch that brings all back"
like "$err" "whole-fix.diff regains (9[0-9]|10[0-9]|110)% of the loss" "says how much"
like "$out" "patched" "after a comparison of bad"
like "$out" "good" "with good beside it"
run culprit --json verify "$id" --patch third.diff
is "$status" 1 "one that brings a third back is no fix"
is "$(json '[s["name"] for s in d["sides"]]')" '["bad", "patched", "good"]' "the document is a comparison's"
run culprit verify "$id" --patch worse.diff
is "$status" 1 "nor is one that makes it worse"
run culprit verify "$id" --patch other.diff
is "$status" 125 "one that does not apply cannot be tested"
like "$out$err" "does not apply" "and says so"
run culprit verify "$id" --patch none.diff
is "$status" 128 "one that is not there is an error"
run culprit verify "$id"
is "$status" 129 "no patch given"
run culprit verify 77 --patch third.diff
is "$status" 128 "no such session"
run culprit --repo "$TMP/p" run job.yaml good
run culprit verify "$("$culprit" --json status | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(next(v for v in d.values() if isinstance(v, list))[0]["session"])')" --patch third.diff
is "$status" 129 "a session that is no bisection"
like "$err" "no bisection but a run" "says what it is"

run culprit --repo "$TMP/p" compare job.yaml good bad good
is "$status" 129 "two columns of one name"
like "$err" "NAME=good" "and what to do"
finish
