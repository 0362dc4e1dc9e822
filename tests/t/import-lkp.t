#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `import-lkp`: a job of LKP becomes one of ours; what has no counterpart is listed.
. "$(dirname "$0")/lib.sh"

cat >"$TMP/hackbench.yaml" <<'YAML'
suite: hackbench
testcase: hackbench
category: benchmark

nr_threads:
  - 50%
  - 1600%
iterations: 8
runtime: 600s
cpufreq_governor: performance
need_memory: 4G

hackbench:
  mode:
    - process
    - threads
  ipc: [pipe, "so'cket"]
  odd-name: 1
  deep: {a: 1}
YAML
run culprit import-lkp "$TMP/hackbench.yaml"
is "$status" 0 "a job of LKP"
like "$err" "line 3: no counterpart of 'category'" "what is left is told with its line"
for key in cpufreq_governor need_memory odd-name deep; do
	like "$err" "no counterpart of '$key'" "so is '$key'"
	like "$out" "^#   $key: " "in the job's comments, too"
done
cp "$TMP/out" "$TMP/job.yaml"
run culprit --json check "$TMP/job.yaml"
is "$(json '"error" in d')" false "what comes out is a job"
is "$(json 'len(d["cells"])')" 8 "with the cells of LKP's matrix"
is "$(json '[str(c) for c in d["cells"]]' | grep -o 'process' | wc -l)" 4 "half of them by the program's parameter mode"
like "$(json '[str(c) for c in d["cells"]]')" "nr_threads[^0-9]*2[^0-9].*nr_threads[^0-9]*64[^0-9]" "shares of CPUs are CPUs: 50% and 1600% of 4"
like "$(cat "$TMP/job.yaml")" "timeout: 1200s" "its timeout is twice its runtime"
like "$(cat "$TMP/job.yaml")" "runtime: \[600\]" "which the program gets in seconds"
like "$(cat "$TMP/job.yaml")" "iterate: \{min: 8, max: 8\}" "and iterations are runs a boot"
run culprit parse "$TMP/job.yaml" --cell none
run sh -c "printf 'hackbench: 1\nthroughput: 1234.5\n' | '$culprit' --json parse '$TMP/job.yaml'"
is "$(json 'd["metrics"][0]["value"]')" 1234.5 "and its metric is read from what LKP's programs print"

cat >"$TMP/parts.yaml" <<'YAML'
testcase: fio-basic
disk: 1HDD
nr_task: [1, 100%]
fio-setup-basic:
  bs: 4k
fio:
--- # the next
fs: btrfs
fio-setup-basic:
  bs: [4k, 4M]
YAML
run culprit --json import-lkp "$TMP/parts.yaml"
is "$(json 'd["parts"]')" 2 "a file of two parts"
is "$(json '[w["key"] for w in d["without_counterpart"]]')" '["disk", "fio-setup-basic", "metrics"]' "what is missing is a list"
like "$(json 'd["job"]')" "bs: \['4k'\]" "the first"
run culprit --json import-lkp --part 1 "$TMP/parts.yaml"
like "$(json 'd["job"]')" "bs: \['4k', '4M'\]" "the second"
like "$(json 'd["job"]')" "nr_task: \[1, 100%\]" "on top of the first"
is "$(json '[w["line"] for w in d["without_counterpart"] if w["key"] == "fs"]')" '[8]' "lines are those of the file"
run culprit import-lkp --part 2 "$TMP/parts.yaml"
is "$status" 129 "a part that is not there"

printf 'a: <%%= 1 %%>\n' >"$TMP/erb.yaml"
run culprit import-lkp "$TMP/erb.yaml"
is "$status" 129 "a template is a program, and not run"
printf 'a: [1\n' >"$TMP/bad.yaml"
run culprit import-lkp "$TMP/bad.yaml"
is "$status" 129 "no YAML"
like "$err" "bad.yaml" "is named"
printf 'nr_threads: 1\n' >"$TMP/none.yaml"
run culprit import-lkp "$TMP/none.yaml"
is "$status" 129 "a job without a program"
printf 'testcase: "x; rm -rf"\nx: 1\n' >"$TMP/evil.yaml"
run culprit import-lkp "$TMP/evil.yaml"
is "$status" 129 "nothing of a file becomes shell text"
printf 'testcase: ok\n"a\\n\\e[2J": 1\nfoo: "a\\nname: evil"\n' >"$TMP/evil.yaml"
run culprit import-lkp "$TMP/evil.yaml"
unlike "$out" "^name: evil|"$'\033' "nor lines or escapes of the job"
run culprit import-lkp "$TMP/no-such-file.yaml"
is "$status" 128 "a file that is not there"
finish
