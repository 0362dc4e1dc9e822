#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `culprit check` and `culprit jobs`: what a job says, every fault of a file, jobs by name.
. "$(dirname "$0")/lib.sh"
data=$root/tests/t/data

run culprit check "$data/sort.yaml"
is "$status" 0 "a good job"
like "$out" '^3 cells$' "its cells are counted"
like "$out" '^  size=4096,clients=50%$' "and listed, with sizes in bytes and quotes kept"
unlike "$out" 'size=4096,clients=1' "less what is excluded"
like "$out" '^  sorted .*keys/s .*higher is better.*pattern, KPI$' "metrics"
like "$out" 'build +at most 10m' "what was not measured is bounded by the time limits"
like "$out" "'culprit bisect' of 64 commits.*builds.*boots" "cost of a bisection"
is "$err" "" "nothing to complain of"
[ ! -e "$XDG_STATE_HOME" ]
ok $? "and nothing written"

run culprit check --json "$data/sort.yaml"
is "$(json 'd["schema_version"]')" 1 "as JSON"
is "$(json '[c["size"] for c in d["cells"]]')" '["1000", "1000", "4096"]' "cells"
is "$(json '[m["name"] for m in d["metrics"] if m["kpi"]]')" '["sorted"]' "KPIs"
is "$(json 'd["cost"]["run"]')" '{"seconds": 60.0, "measured": false}' "costs"
is "$(json '[b["commits"] for b in d["bisect"]]')" '[64, 1024]' "bisections"

cd "$data" || exit 1
run culprit check wrong.yaml
is "$status" 129 "a wrong job is a usage error"
is "$out" "" "without output"
while read -r line; do
	like "$err" "^wrong\.yaml:$line" "fault at $line"
done <<-'LINES'
	2:1: key 'nmae': unknown key, did you mean 'name'\?$
	3:9: key 'runner': 'qemuu' is none of local, qemu, machine, did you mean 'qemu'\?$
	4:34: key 'timeout': '60' is not a time with its unit
	5:24: key 'size': '1' is listed twice$
	5:28: key 'PATH': a parameter must not be called PATH
	7:24: key 'better': 'up' is none of higher, lower$
	7:37: key 'pattern': .*missing terminating \]
	8:31: key 'derive': no metric or parameter is called 'c'
	9:22: key 'max': 3 is less than 'min: 9'$
	10:1: key 'boots': given twice, first in line 9$
LINES
is "$(grep -c '^wrong.yaml:' "$TMP/err")" 10 "and no other fault"

run culprit --json check wrong.yaml
is "$status" 129 "the same with --json"
is "$(json 'd["error"]["code"]')" usage "as a document"
is "$(json 'd["error"]["message"].count("wrong.yaml:")')" 10 "with all faults"

# one file for each way to be wrong that is not a single key's
wrong() { # NAME PATTERN <TEXT
	cat >"$TMP/$1.yaml"
	run culprit check "$TMP/$1.yaml"
	is "$status" 129 "$1: usage error"
	like "$err" "^$TMP/$1\.yaml:$2" "$1: where and what"
}
wrong syntax "2:1: key 'a': not YAML: " < <(printf 'a: [1\n')
wrong anchor "1:6: key 'run': an anchor" < <(printf 'run: &x {command: x}\n')
wrong alias "1:6: key 'run': an alias" < <(printf 'run: *x\n')
wrong tag "1:6: key 'run': a tag" < <(printf 'run: !x y\n')
wrong duplicate "2:1: key 'a': given twice" < <(printf 'a: 1\na: 1\n')
wrong documents "2:1: a second document" < <(printf 'culprit: 1\n---\nculprit: 1\n')
wrong utf8 "1:10: not UTF-8" < <(printf 'culprit: \xff\n')
wrong empty "1:1: the file is empty" < <(printf '')
wrong list "1:1: must be a mapping" < <(printf -- '- a\n')
wrong deep "1:19: key 'a': lists and mappings more than 16 deep" < <((printf 'a: '; printf '[%.0s' $(seq 17); printf ']%.0s' $(seq 17)))
wrong large "1:1: the file is larger than 1 MiB" < <((head -c 1100000 /dev/zero | tr '\0' ' '))
wrong include "2:10: key 'include': no file 'nowhere.yaml'" < <(printf 'culprit: 1\ninclude: nowhere.yaml\n')
wrong loop "2:10: key 'include': 'loop.yaml' includes itself" < <(printf 'culprit: 1\ninclude: loop.yaml\n')

run culprit check "$TMP/nowhere.yaml"
is "$status" 128 "a file that is not there"
like "$err" "no job file '$TMP/nowhere.yaml'" "is said so"
run culprit check "$TMP"/
is "$status" 128 "a directory is no job"
run culprit check
is "$status" 129 "a job must be named"

mkdir -p "$XDG_CONFIG_HOME/culprit/jobs" "$TMP/more"
sed 's/name: sort/name: mine/' "$data/sort.yaml" >"$XDG_CONFIG_HOME/culprit/jobs/mine.yaml"
cp "$data/wrong.yaml" "$TMP/more/bad.yaml"
cp "$data/sort.yaml" "$TMP/more/mine.yaml"
export CULPRIT_JOBS=$TMP/more
run culprit jobs
is "$status" 0 "jobs"
like "$out" '^mine +sorts keys$' "with their descriptions"
like "$out" '^bad +does not load: .*bad\.yaml:2:1: ' "and what is wrong with others"
is "$(grep -c ^mine "$TMP/out")" 1 "each name once"
run culprit jobs --json
is "$(json '[j["problem"] for j in d["jobs"] if j["name"] == "mine"]')" '[null]' "as JSON"
run culprit check mine
like "$out" "^mine: $XDG_CONFIG_HOME" "the user's own job is nearest"
run culprit check mien
is "$status" 128 "a name that is not there"
like "$err" "did you mean 'mine'" "and the one that was meant"

cat >"$TMP/quick.yaml" <<'JOB'
culprit: 1
run: {command: 'echo rate: 5', timeout: 50s}
metrics: {rate: {better: higher, key: rate}}
boots: {min: 2, max: 2}
iterate: {min: 1, max: 1}
JOB
run culprit check "$TMP/quick.yaml"
like "$out" 'run +at most 50s' "before a job ran, its limits are all that is known"
run culprit run "$TMP/quick.yaml"
is "$status" 0 "the job runs"
run culprit check --json "$TMP/quick.yaml"
is "$(json '[d["cost"][k]["measured"] for k in ("boot", "run")]')" '[true, true]' "then its costs are measured"
is "$(json '0 < d["cost"]["run"]["seconds"] < 50')" true "and smaller"

run culprit help job-file
is "$status" 0 "the keys of job files"
like "$out" '^metrics\.NAME\.each: a list of texts$' "each of them"
like "$out" '^packages: ' "documented by the table that reads them"

for job in "$root"/jobs/*.yaml; do
	run culprit check "$job"
	is "$status" 0 "jobs/${job##*/} is a good job"
done
# a shell without a text to run: looked at for netperf's options like any other command
printf '%s\n' 'culprit: 1' 'name: bare' 'description: nothing to run' 'runner: local' 'run: {command: [sh, -c]}' 'metrics:' \
	"  rate: {unit: x, better: lower, pattern: 'netperf=([0-9]+)', kpi: true}" >"$TMP/bare.yaml"
run culprit check "$TMP/bare.yaml"
is "$status" 0 "a list that ends at -c"

finish
