#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `culprit aa`: a machine whose noise is known to the last digit, what is found of it, and what the other
# verbs make of that.
. "$(dirname "$0")/lib.sh"

# Percent of the level by which ten boots in a row and three runs in a row differ. R: sd(boot) is 2.58199 and
# sd(run) 1; without the run noise of three runs, sqrt(var(boot) - 1 / 3) is 2.51661.
git init -q "$TMP/p"
cat >"$TMP/p/bench.sh" <<SH
#!/bin/sh
sleep "\$(cat "$TMP/sleep")"
awk -v level="\$(cat level)" -v scale="\$(cat "$TMP/scale")" -v b="\$CULPRIT_BOOT" -v r="\$CULPRIT_RUN" 'BEGIN {
	split("-4 3 -2 1 0 0 -1 2 -3 4", boot); split("-1 0 1", run)
	printf "rate=%.6f\n", level * (1 + scale * (boot[(b - 1) % 10 + 1] + run[(r - 1) % 3 + 1]) / 100) }'
SH
chmod +x "$TMP/p/bench.sh"
noise() { # SCALE [SLEEP]
	echo "$1" >"$TMP/scale"
	echo "${2:-0}" >"$TMP/sleep"
}
commit() { # LEVEL
	echo "$1" >level
	date +%N >unique
	git add . && git commit -qm "level $1"
}
(
	cd "$TMP/p" || exit 1
	printf 'all:\n\ttest ! -e broken\n' >Makefile
	commit 1000 && git tag base
	commit 1000
	commit 985 && git tag little
	commit 900 && git tag much
	touch broken && commit 900 && git tag broken
	rm broken && echo 'exit 1' >bench.sh && commit 900 && git tag silent
)
write_job() { # FILE NAME LINE...
	cat >"$1" <<-YAML
		culprit: 1
		name: $2
		description: noise of known size
		runner: local
		build: {command: make -s, timeout: 1m}
		run: {command: ./bench.sh, timeout: 20s}
		metrics:
		  extra: {unit: s, better: lower, pattern: 'extra=([0-9.]+)', optional: true}
		  rate: {unit: ops/s, better: higher, pattern: 'rate=([0-9.]+)', kpi: true}
		boots: {min: 5, max: 10}
	YAML
	printf '%s\n' "${@:3}" >>"$1"
}
write_job "$TMP/job.yaml" noisy 'iterate: {min: 3, max: 3}'
write_job "$TMP/once.yaml" once 'iterate: {min: 1, max: 1}'
write_job "$TMP/given.yaml" given 'iterate: {min: 3, max: 3}' 'regression: {min_effect: 1.2%}'
write_job "$TMP/cells.yaml" cells 'iterate: {min: 1, max: 9}' 'parameters: {size: [1, 2]}'
cd "$TMP" || exit 1
culprit_p() {
	run culprit --no-progress --repo "$TMP/p" "$@"
}
rounded() { # EXPRESSION: json, to five digits
	json "float('%.5g' % ($1))"
}

noise 1
culprit_p --json aa job.yaml base
is "$status" 0 "the noise of a commit"
is "$(json 'list(d)')" '["schema_version", "aa", "job", "machine", "commit", "subject", "runs_per_boot", "error", "builds", "no_other_build", "rows"]' "keys of the document"
is "$(json '[d["schema_version"], d["aa"], d["job"], d["machine"], d["runs_per_boot"], d["error"]]')" '[1, 1, "noisy", "local", 3, 0.01]' "what was measured"
is "$(json 'd["commit"]')" "$(git -C p rev-parse base)" "of this commit"
is "$(json 'd["builds"]')" '[{"name": "plain", "boots": 10, "why": null}]' "in ten boots of one build"
like "$(json 'd["no_other_build"]')" "builds no kernel" "no other build is applicable"
is "$(json '[r["metric"] for r in d["rows"]]')" '["rate", "extra"]' "a row a metric, KPIs first"
is "$(json 'list(d["rows"][0])')" '["cell", "metric", "unit", "kpi", "centre", "runs", "boots", "builds", "boot_value", "spread_percent", "visible"]' "keys of a row"
is "$(rounded 'd["rows"][0]["centre"]')" 1000.0 "the centre"
is "$(rounded 'd["rows"][0]["runs"]["percent"]')" 1.0 "between runs"
is "$(rounded 'd["rows"][0]["boots"]["percent"]')" 2.5166 "between boots, without the noise of their runs"
is "$(rounded 'd["rows"][0]["boots"]["sd"]')" 25.166 "in the unit too"
is "$(rounded 'd["rows"][0]["boot_value"]["percent"]')" 2.582 "between boot values, as a comparison takes them"
is "$(rounded 'd["rows"][0]["spread_percent"]')" 2.582 "which is the spread that others use"
is "$(json '[d["rows"][0][k]["n"] for k in ("runs", "boots", "builds")]')" '[30, 10, 1]' "from so many"
is "$(json 'd["rows"][0]["builds"]["percent"]')" null "between builds is not known, which is not 0"
is "$(json '[v["boots"] for v in d["rows"][0]["visible"]]')" '[5, 10, 20]' "what 5, 10 and 20 boots can see"
# R: s * (qt(.995, 2 * n - 2) + qt(.9, 2 * n - 2)) * sqrt(2 / ((n - 1) * 3 / pi)), s = 2.58199, n = 5, 10, 20
is "$(json '["%.4g" % v["percent"] for v in d["rows"][0]["visible"]]')" '["8.879", "5.242", "3.443"]' "in percent"
is "$(json '[r["boots"]["n"] for r in d["rows"]][1]')" 0 "a metric without a value has none of anything"
is "$(json '[d["rows"][1]["centre"], d["rows"][1]["boots"]["percent"], d["rows"][1]["visible"][2]["change"]]')" '[null, null, null]' "which is not 0"
document=$out
culprit_p --json report 1
is "$out" "$document" "report gives the same document"
culprit_p report 1
like "$out" 'rate ops/s +1000\.0 +1% \(30\) +2\.5% \(10\) +none \(1\) +2\.6%' "and the table"
like "$out" 'rate ops/s .*8\.9% .*5\.2% .*3\.4%' "with what can be seen"
like "$out" 'extra s +none +none +none +none +none' "missing is none"
like "$out" 'Between builds is not applicable: the job builds no kernel' "and why there is one build"
culprit_p report 1 --format latex
is "$status" 129 "another format is refused"

# the others: the machine is quiet now, but nobody told them
noise 0.02
run culprit --state "$TMP/unlearned" --repo "$TMP/p" --json compare job.yaml base little
is "$status" 1 "1.5% less is a regression where nothing is known of the noise"
culprit_p --json compare job.yaml base little
is "$status" 0 "but not where boots were seen to differ by 2.6%"
is "$(json 'd["rows"][0]["verdict"]')" "no-regression" "less than that is no change"
like "$err" "noise here by 'culprit aa': runs 1%, boots 2.5%$" "which is said before it starts"
culprit_p compare job.yaml base little
like "$out" 'changes under 2\.58% count as none' "and below the table"
culprit_p compare job.yaml base much
is "$status" 1 "10% less is a regression all the same"
git -C p checkout -q little
culprit_p test job.yaml --good base
is "$status" 0 "test: 1.5% less is still good"
run culprit --state "$TMP/unlearned" --repo "$TMP/p" test job.yaml --good base
is "$status" 1 "and bad where nothing is known"
culprit_p --json bisect job.yaml base..little
is "$(json 'd["outcome"]')" "not-reproduced" "bisect: nothing to find"
like "$err" "noise here by 'culprit aa': runs 1%, boots 2.5%" "the noise is said before it starts"
culprit_p --json bisect job.yaml base..little --fresh --again
is "$(json 'd["culprit"]')" "$(git -C p rev-parse little)" "--fresh forgets what was learned, and finds it"
unlike "$err" "culprit aa" "without a word of it"
noise 1
culprit_p aa given.yaml base
noise 0.02
culprit_p compare given.yaml base little
is "$status" 1 "what a job gives goes before what was learned"

# a person's word counts: without the two outermost of the ten boots
for b in 1 10; do culprit_p void boot "$b" --why "somebody compiled"; done
culprit_p compare job.yaml base little
like "$err" "noise here by 'culprit aa': runs 1%, boots 1.9%$" "voided boots are not learned from"

culprit_p report 1
like "$err" "2 boots of session 1 were taken out by hand" "and the report that has them says so"

# cells of their own; the newest that knows a cell counts
export XDG_STATE_HOME=$TMP/state-cells
noise 1
culprit_p --json aa cells.yaml base
is "$(json 'd["runs_per_boot"]')" 3 "three runs a boot where the job leaves it open"
is "$(json '[(r["cell"], r["metric"]) for r in d["rows"]]')" '[[{"size": "1"}, "rate"], [{"size": "2"}, "rate"], [{"size": "1"}, "extra"], [{"size": "2"}, "extra"]]' "a row a cell and metric"
noise 0.5
culprit_p --json aa cells.yaml base --cell size=2
is "$(json '[r["cell"]["size"] for r in d["rows"]]')" '["2", "2"]' "one cell alone"
noise 0.02
culprit_p compare cells.yaml base little
like "$out" 'changes under 1\.29 to 2\.58% count as none' "each cell has its own noise"

# one run a boot
noise 1
culprit_p --json aa once.yaml base
is "$(json '[d["runs_per_boot"], d["rows"][0]["runs"]["percent"]]')" '[1, null]' "one run a boot says nothing of the noise between runs"
is "$(rounded 'd["rows"][0]["boots"]["percent"]')" 2.6081 "it is in that between boots"
like "$err" "noise between runs stays unknown" "which is said before"
culprit_p report "$(json 'd["aa"]')"
like "$out" "Between runs is not known" "and after"

# interrupted, it goes on; what a session knew when it began stays
export XDG_STATE_HOME=$TMP/state-resume
has_boots() { # N
	[ "$("$culprit" export 2>/dev/null | grep '"table":"boots"' | grep -c '"ok"')" -ge "$1" ]
}
interrupt() { # VERB...: after two boots
	"$culprit" --no-progress --repo "$TMP/p" "$@" >"$TMP/out" 2>"$TMP/err" &
	pid=$!
	await has_boots 2
	kill -INT "$pid"
	wait "$pid"
}
noise 0.02 0.1
interrupt compare job.yaml base little
is $? 130 "a comparison is interrupted"
noise 1
culprit_p aa job.yaml base
noise 0.02
run culprit --no-progress continue 1
is "$status" 1 "it ends as it began, by what it knew then"
export XDG_STATE_HOME=$TMP/state-again
noise 1 0.1
interrupt aa job.yaml base
is $? 130 "SIGINT pauses: 130"
run culprit report 1
is "$status" 128 "no result yet"
like "$err" "no result yet \(it is paused\)" "because it is paused"
noise 1
culprit_p compare job.yaml base much
unlike "$err" "culprit aa" "what is not finished taught nothing"
run culprit --no-progress --json continue 1
is "$status" 0 "it goes on"
is "$(json '[d["aa"], d["builds"][0]["boots"], d["rows"][0]["runs"]["n"]]')" '[1, 10, 30]' "to ten boots in all"
culprit_p --json aa job.yaml base
is "$(json 'd["aa"]')" 3 "once more is another session"

# what cannot be
culprit_p aa job.yaml broken
is "$status" 125 "a commit that does not build cannot be tested"
culprit_p --json aa job.yaml silent
is "$status" 125 "nor one that gives no value"
like "$(json 'd["error"]["message"]')" "cannot be tested" "and says so"
culprit_p aa job.yaml --builds 2
is "$status" 129 "no other build of a local project"
like "$err" "not applicable .* builds no kernel" "and why"
culprit_p aa "$root/jobs/hackbench.yaml" --builds 3
is "$status" 129 "no third build of a kernel"
like "$err" "one other layout, functions aligned to 64 bytes" "and why"
culprit_p aa "$root/jobs/hackbench.yaml" --builds 0
is "$status" 129 "nor none"
culprit_p aa job.yaml --builds many
is "$status" 129 "a number is wanted"
culprit_p aa job.yaml nowhere
is "$status" 128 "no such revision"
culprit_p aa job.yaml base --cell size=3
is "$status" 129 "no such cell"
culprit_p aa
is "$status" 129 "no job"
finish
