#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `culprit test`, alone and under git bisect run: good, bad, untestable, undecided, and what is none of these.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/project.sh"

write_job "$TMP/job.yaml"
make_project "$TMP/p" 8 5 3
sed -i 's/boots: .*/boots: {min: 8, max: 40}/' "$TMP/job.yaml"
cd "$TMP/p" || exit 1
verdict() { # REV: of this commit
	git checkout -q "$1"
	run culprit --no-progress test "$TMP/job.yaml" --good good
}

verdict good
is "$status" 0 "good is good"
verdict bad~7
is "$status" 0 "a commit that changed nothing is good"
like "$err" "no-regression" "because a change was ruled out"
verdict bad
is "$status" 1 "a slow one is bad"
verdict bad~5
is "$status" 125 "one that does not build is skipped"

sed 's/boots: .*/boots: {min: 2, max: 3}/; s/^name: .*/name: few/' "$TMP/job.yaml" >"$TMP/few.yaml"
git checkout -q bad
run culprit --no-progress test "$TMP/few.yaml" --good good
is "$status" 125 "too few boots to say anything: skipped, never bad"

run culprit --no-progress test "$TMP/job.yaml"
is "$status" 129 "no good revision"
run culprit --no-progress test "$TMP/job.yaml" --good nowhere
ok "$([ "$status" -ge 128 ]; echo $?)" "a revision that does not exist stops git bisect ($status)"
sed 's/make -s, timeout/test ! -e broken -a $(cat level) != 1000, timeout/; s/^name: .*/name: lab/' "$TMP/job.yaml" >"$TMP/lab.yaml"
run culprit --no-progress test "$TMP/lab.yaml" --good good
ok "$([ "$status" -ge 128 ]; echo $?)" "a good commit that cannot be tested is no verdict on this one ($status)"

git bisect start bad good >/dev/null
git bisect run "$culprit" -q --no-progress test "$TMP/job.yaml" --good good >"$TMP/bisect.out" 2>&1
like "$(cat "$TMP/bisect.out")" "$(git rev-parse bad~3) is the first bad commit" "git bisect run finds the commit"
finish
