#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Peak memory of the process that bisects (its children not counted), over 200 commits by the local runner.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
culprit=$root/${BUILD:-build}/culprit
. "$root/tests/t/project.sh"
export GIT_AUTHOR_NAME=Tester GIT_AUTHOR_EMAIL=tester@example.invalid
export GIT_COMMITTER_NAME=Tester GIT_COMMITTER_EMAIL=tester@example.invalid
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
make_project "$tmp/p" 200 120
write_job "$tmp/job.yaml"
"$culprit" --state "$tmp/state" --cache "$tmp/cache" --repo "$tmp/p" -q --no-progress \
	bisect "$tmp/job.yaml" --good good --bad bad >/dev/null &
pid=$!
peak=0
while kb=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null) && [ -n "$kb" ]; do
	peak=$kb
	read -rt 0.02 <> <(:) || :
done
wait $pid
awk -v kb="$peak" 'BEGIN { printf "peak memory of a bisection: %.1f MB (goal 64)\n", kb / 1024 }'
