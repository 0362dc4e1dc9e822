#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The quick demo from nothing, twice: right both times, and the second begins anew.
. "$(dirname "$0")/lib.sh"

export DEMO_DIR=$TMP/demo DEMO_SEED=3 CULPRIT=$culprit
run "$root/jobs/demo/run" --quick
is "$status" 0 "the quick demo names its planted commit"
like "$out" "^right: $(cat "$DEMO_DIR/quick-3/.git/culprit-demo-planted")" "and says so at its end"
like "$out" "the culprit is found" "after the report"
like "$err" "candidates" "what it will cost is said first"
run "$root/jobs/demo/run" --quick
is "$status" 0 "a second time, too"
is "$("$culprit" --state "$DEMO_DIR/state" --json status | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(len(next(v for v in d.values() if isinstance(v, list))))')" 2 "by a bisection of its own"
finish
