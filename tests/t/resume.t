#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Killed at any moment, a bisection goes on: nothing lost, nothing counted twice, nothing left running.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/project.sh"

write_job "$TMP/job.yaml"
make_project "$TMP/p" 16 11
# a boot takes a while, so that most kills hit one; the sleeper is what must not be left behind
(cd "$TMP/p" && git tag -f good >/dev/null)
cat >"$TMP/slow.yaml" <<YAML
culprit: 1
include: $TMP/job.yaml
name: slow
description: the same, slower
run: {command: 'sleep 0.1; ./bench.sh', timeout: 20s}
YAML
git -C "$TMP/p" tag -f good "$(git -C "$TMP/p" rev-list --max-parents=0 HEAD)" >/dev/null
truth=$(git -C "$TMP/p" rev-parse bad~5)
bisect=("$culprit" --repo "$TMP/p" --no-progress --json bisect "$TMP/slow.yaml" --good good --bad bad)

RANDOM=7
killed=0
for i in $(seq 1 20); do
	"${bisect[@]}" >"$TMP/out" 2>>"$TMP/log" &
	pid=$!
	sleep "0.$(printf %03d $((RANDOM % 600 + 20)))"
	if kill -9 "$pid" 2>/dev/null; then
		killed=$((killed + 1))
		# a reader never waits, whatever state the writer left
		if ! "$culprit" status >/dev/null 2>>"$TMP/log" && [ "$i" -gt 3 ]; then
			echo "# status failed after kill $i"
			failures=$((failures + 1))
		fi
	fi
	wait "$pid" 2>/dev/null
done
ok "$([ "$killed" -ge 10 ]; echo $?)" "at least ten of the kills hit a running bisection ($killed)"

run "${bisect[@]}"
is "$status" 0 "the same command brings it to its end"
is "$(json 'd["culprit"]')" "$truth" "the same culprit"
run culprit export
facts=$(printf '%s\n' "$out" | python3 -c '
import json, sys, collections
rows = [json.loads(l) for l in sys.stdin]
boots = {r["id"]: r for r in rows if r["table"] == "boots"}
told = collections.Counter(r["boot"] for r in rows if r["table"] == "steps" and r["what"] == "obs" and r["boot"])
counted = [b for b in boots.values() if b["status"] in ("ok", "failed") and b["purpose"] != "reference"]
print(len([b for b in counted if told[b["id"]] != 1]), len([b for b in told if b not in boots]),
      len([r for r in rows if r["table"] == "sessions"]), len([b for b in boots.values() if b["status"] == "started"]))
')
is "$facts" "0 0 1 0" "each boot that ended was told once, none is left open, all in one session"
left=$(pgrep -f "$TMP/" | grep -v "^$$\$" | wc -l)
is "$left" 0 "no process is left"

# two at once: the second is told who holds it
"${bisect[@]}" --again >"$TMP/out" 2>>"$TMP/log" &
pid=$!
await is_running
run "${bisect[@]}"
is "$status" 128 "a second process on the same bisection is refused"
like "$(json 'd["error"]["message"]')" "$pid" "and told which process holds it"
kill -INT "$pid"
wait "$pid"
is $? 130 "SIGINT pauses: 130"
run culprit status
like "$out" "paused" "and the session is paused"
run culprit --no-progress --json continue
is "$status" 0 "culprit continue goes on"
is "$(json 'd["culprit"]')" "$truth" "to the same culprit"
finish
