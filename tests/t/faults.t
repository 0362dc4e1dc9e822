#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What goes wrong in the field: each gives a clear error, loses nothing, leaves no process.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/project.sh"

make_project "$TMP/p" 4 2
job() { # NAME RUN-COMMAND [EXTRA-LINE]: a job file with this command
	cat >"$TMP/$1.yaml" <<-YAML
		culprit: 1
		name: $1
		runner: local
		run: {command: '$2', timeout: ${timeout:-5s}}
		metrics:
		  rate: {unit: ops/s, better: higher, pattern: 'rate=(\S+)', kpi: true}
		boots: {min: 3, max: 4}
		iterate: {min: 1, max: 1}
		${3:-}
	YAML
}
on_project() { run culprit --repo "$TMP/p" --no-progress "$@"; }

job missing './no-such-program'
on_project run "$TMP/missing.yaml" bad
is "$status" 125 "a program that is not there"
like "$err" "127.*no-such-program" "is named with its exit status"

job nothing 'true'
on_project run "$TMP/nothing.yaml" bad
is "$status" 125 "a program that prints nothing"
like "$err" "metric 'rate'" "names the metric that is missing"

job nan 'echo rate=NaN'
on_project run "$TMP/nan.yaml" bad
is "$status" 125 "NaN is no value"
like "$err" "metric 'rate'.*NaN|not a number" "and says so"

job much 'head -c 100000000 /dev/zero | tr "\\0" x'
on_project run "$TMP/much.yaml" bad
is "$status" 125 "100 MB of output"
like "$err" "100000000 bytes|printed" "is measured, not kept"
is "$(($(du -sk "$TMP/state" | cut -f1) < 20000))" 1 "and does not fill the state"

timeout=300ms job endless 'echo rate=1; sleep 100.17 & sleep 100.17'
on_project run "$TMP/endless.yaml" bad
is "$status" 125 "a run that never ends"
like "$err" "did not end within" "is ended at its deadline"
is "$(pgrep -fc "sleep 100.17")" 0 "with what it started"

job slow-build 'echo rate=1' 'build: {command: sleep 100, timeout: 300ms}'
on_project run "$TMP/slow-build.yaml" bad
is "$status" 125 "a build that never ends"
like "$err" "did not end within" "is ended at its deadline"

job no-build 'echo rate=1' "build: {command: 'echo this is why; exit 3', timeout: 5s}"
on_project run "$TMP/no-build.yaml" bad
is "$status" 125 "a build that fails"
like "$err" "exited with 3" "says how it ended"
like "$err" "this is why" "and its last words"

job setup 'echo rate=1' "setup: {command: 'echo no server; exit 4', timeout: 5s}"
on_project run "$TMP/setup.yaml" bad
is "$status" 125 "a setup that fails makes a commit untestable"
like "$err" "no server" "with its last words"

job fine 'echo rate=1'
on_project --state /proc/culprit run "$TMP/fine.yaml" bad
is "$status" 128 "a state directory that cannot be made"
like "$err" "/proc/culprit" "is named"

on_project run "$TMP/fine.yaml" bad
is "$status" 0 "a constant metric is fine for a run"
sqlite3 "$TMP/state/culprit/culprit.db" 'PRAGMA user_version = 9999' 2>/dev/null ||
	python3 -c 'import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute("PRAGMA user_version=9999"); c.commit()' \
		"$(find "$TMP/state" -name '*.db' -o -name '*.sqlite' | head -1)"
on_project run "$TMP/fine.yaml" bad
is "$status" 128 "a database of a newer version is not touched"
like "$err" "newer" "and the error says so"
rm -rf "$TMP/state"

# signals: the first pauses, state saved; SIGTERM is 143; a second one ends at once
job long 'sleep 3.19; echo rate=1'
for sig in INT TERM; do
	"$culprit" --repo "$TMP/p" --no-progress run "$TMP/long.yaml" bad >/dev/null 2>"$TMP/err" &
	pid=$!
	await is_running || ok 1 "a run is under way"
	kill -$sig "$pid"
	wait "$pid"
	is $? $([ $sig = INT ] && echo 130 || echo 143) "SIG$sig gives its exit status"
	run culprit status
	like "$out" "paused" "the session is paused"
	unlike "$out" "running" "and does not claim to run"
	rm -rf "$TMP/state"
done
"$culprit" --repo "$TMP/p" --no-progress run "$TMP/long.yaml" bad >/dev/null 2>"$TMP/err" &
pid=$!
await is_running || ok 1 "a run is under way"
kill -INT "$pid"; kill -TERM "$pid"
wait "$pid"
ok "$([ $? -ge 130 ]; echo $?)" "two signals at once still end it"
no_sleeper() { ! pgrep -f 'sleep 3.19'; }
await no_sleeper
is "$(pgrep -fc 'sleep 3.19')" 0 "and nothing is left running"
rm -rf "$TMP/state"

# disks that fill up: a small tmpfs for the state, one for the cache
if mkdir -p "$TMP/small" && mount -t tmpfs -o size=1m none "$TMP/small" 2>/dev/null; then
	job wide 'head -c 200000 /dev/urandom | base64; echo rate=1'
	on_project --state "$TMP/small/state" run "$TMP/wide.yaml" bad
	is "$status" 128 "a state directory without space pauses"
	like "$err" "space|full" "and says why"
	rm -rf "$TMP/small/state"
	job fill 'echo rate=1' "build: {command: 'head -c 4000000 /dev/zero > big', timeout: 20s}"
	on_project --cache "$TMP/small/cache" run "$TMP/fill.yaml" bad
	is "$status" 128 "a full disk while building is no fault of the commit"
	like "$err" "space|full" "and says why"
	umount "$TMP/small"
else
	skip "a small file system needs root"
fi
finish
