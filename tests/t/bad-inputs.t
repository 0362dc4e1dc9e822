#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a search may be given: ranges that are none, metrics that are odd, machines that go away, clocks that
# step back. (Swapped and equal ends are in bisect.t, a fix in find-fix.t, the engine alone in
# test_search_engine.)
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/project.sh"

make_project "$TMP/p" 6 4
write_job "$TMP/job.yaml"
job() { # NAME RUN-COMMAND [EXTRA-LINE]: a job with this command
	cat >"$TMP/$1.yaml" <<-YAML
		culprit: 1
		name: $1
		runner: local
		run: {command: '$2', timeout: 20s}
		metrics:
		  rate: {unit: ops/s, better: higher, pattern: 'rate=(-?[0-9.]+)', kpi: true}
		boots: {min: 4, max: 20}
		iterate: {min: 1, max: 1}
		regression: {min_effect: 2%, error: 1%}
		${3:-}
	YAML
}
search() { # JOB OPTION...
	local name=$1

	shift
	run culprit --repo "$TMP/p" --no-progress --json bisect "$TMP/$name.yaml" "$@"
}

# ranges
git -C "$TMP/p" branch -q unrelated "$(git -C "$TMP/p" commit-tree -m alone "$(git -C "$TMP/p" rev-parse good^{tree})")"
search job unrelated..bad
is "$status" 129 "ends without a common ancestor"
like "$err" "unrelated|common|ancestor" "are said to have none"
search job bad~3..bad~2
is "$(json '[d["outcome"], d["subject"]]')" '["culprit", "change 4"]' "a range of one commit"
search job good..bad --path no/such/file
is "$status" 129 "a path that no commit touches leaves no range"
like "$err" "no/such/file" "and is named"
search job good..bad --path file1 --path file2
is "$status" 1 "a step that no commit of the paths made"
is "$(json '[d["outcome"], d["culprit"], d["range"]]')" '["range", null, 3]' "is not laid on the end that was measured beside them"
like "$(json 'd["notes"]')" "without them" "and the notes say where it is"
search job good..bad --path level
is "$(json '[d["outcome"], d["subject"]]')" '["culprit", "change 4"]' "other paths are another search"
search job bad..good
is "$status" 129 "swapped ends"

# nothing can be tested
job broken 'echo rate=1' "build: {command: 'false', timeout: 5s}"
search broken good..bad
is "$status" 125 "where no commit builds"
is "$(json '"error" in d and d["error"]["code"] or d["outcome"]')" untestable "the range is untestable"

# metrics
job zero 'echo rate=0'
search zero good..bad
is "$(json '[d["outcome"], d["culprit"]]')" '["not-reproduced", null]' "a metric that is always zero"
like "$(json 'd["notes"]')" "one and the same value" "and the notes say that it never moves"
job negative 'echo rate=-$(cat level).$((CULPRIT_BOOT % 3))' ''
search negative good..bad
is "$(json '[d["outcome"], d["culprit"]]')" '["not-reproduced", null]' "a negative one that gets better"
job sign 'echo rate=$(($(cat level) - 950)).$((CULPRIT_BOOT % 3))'
search sign good..bad
is "$(json '[d["outcome"], d["subject"]]')" '["culprit", "change 4"]' "one that changes its sign"
is "$(json 'd["effect"]["good"] > 49 and d["effect"]["bad"] < -49')" true "with both levels"
job half 'test $((CULPRIT_BOOT % 2)) = 0 || exit 1; ./bench.sh'
search half good..bad
is "$(json '[d["outcome"], d["subject"]]')" '["culprit", "change 4"]' "one that is missing in half of the boots"

# after six runs with the file armed, a run does what its first argument says
cat >"$TMP/after-six" <<-'SH'
	#!/bin/sh
	if [ -e "$2/armed" ]; then
		echo >>"$2/armed"
		[ "$(wc -l <"$2/armed")" -le 6 ] || case $1 in
		agent) kill -9 $PPID ;; # the agent that it is under
		culprit) kill -INT "$(cat "$2/pid")" ;;
		esac
	fi
	exec ./bench.sh
SH
chmod +x "$TMP/after-six"

# the machine goes away, and stays away
job going "exec $TMP/after-six agent $TMP"
: >"$TMP/armed"
search going good..bad
is "$status" 128 "a machine that goes away in the middle ends the search"
is "$(json 'd["error"]["code"]')" infra "as trouble of the lab"
run culprit --json status
is "$(json 'd["sessions"][0]["state"]')" paused "which pauses it"
id=$(json 'd["sessions"][0]["session"]')
steered=$("$culprit" export | python3 -c 'import json,sys
rows = [json.loads(l) for l in sys.stdin]
print(sum(r["table"] == "steps" and r["session"] == int(sys.argv[1]) and r["what"] == "obs" and json.loads(r["data"])["status"] != 0 for r in rows))' "$id")
is "$steered" 0 "and says nothing of a commit"
rm "$TMP/armed"
run culprit --no-progress --json continue "$id"
is "$(json '[d["outcome"], d["subject"]]')" '["culprit", "change 4"]' "once it is back, the search goes on to its end"

# the clock steps back by thirty years in the middle
job clock "exec $TMP/after-six culprit $TMP"
: >"$TMP/armed"
export CULPRIT_NOW=1800000000
run sh -c 'echo $$ >"$0/pid"; exec "$@"' "$TMP" "$culprit" --repo "$TMP/p" --no-progress bisect "$TMP/clock.yaml" good..bad
is "$status" 130 "a search that is stopped"
rm "$TMP/armed"
export CULPRIT_NOW=850000000
search clock good..bad
is "$(json '[d["outcome"], d["subject"]]')" '["culprit", "change 4"]' "a clock that steps back does not mislead a search"
is "$(json '0 < d["cost"]["seconds"] < 600')" true "nor its cost"
clock=$(json 'd["bisect"]')
run culprit --json status
is "$(json '[(s["session"], s["state"]) for s in d["sessions"] if s["session"] == '"$clock"']')" "[[$clock, \"done\"]]" "it was taken up, not begun anew"
run culprit --json show "$clock"
is "$(json '[b["boot"] for b in d["boots"]] == sorted(b["boot"] for b in d["boots"])')" true "boots stay in the order in which they were taken"
is "$(sqlite3 "$XDG_STATE_HOME/culprit/culprit.db" "SELECT count(DISTINCT started_s) FROM boots WHERE session = $clock")" 2 "from before and after the step"
is "$(json 'all(b["seconds"] >= 0 for b in d["boots"])')" true "none of them took less than nothing"
run culprit history rate
is "$status" 0 "the history can be read"
finish
