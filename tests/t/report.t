#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The tables of comparisons and bisections through the binary.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/project.sh"

write_job "$TMP/job.yaml"
make_project "$TMP/p" 3 2

run culprit --repo "$TMP/p" compare "$TMP/job.yaml" good bad --format mmtests
is "$status" 1 "a regression: 1, whatever the format"
like "$out" '^Hmean rate .*\(    0\.00%\).* \* +-(9|10|11)\.[0-9]{2}%\*$' "baseline first, significant, minus is worse"
like "$out" 'REGRESSION; [0-9]+ and [0-9]+ boots; raw Hodges-Lehmann change -[0-9.]+% \[.*\] 99%; adjusted p ' "grounds of a KPI"
like "$out" '^  Elapsed +[0-9]+\.[0-9]{2} +[0-9]+\.[0-9]{2}$' "the local runner records times"

run culprit report 1 --format lkp
like "$out" ' -(9|10|11)\.[0-9]% .* rate$' "%change of the centres"
like "$out" '%stddev +%change +%stddev' "column heads"
like "$out" '^  [0-9a-f]{10} \("change 3"\)  bad$' "the commits with their subjects"
run culprit report 1 --format text
like "$out" 'ratio of the centres' "text"
run culprit --json report 1
is "$(json 'd["rows"][0]["mean_kind"], d["rows"][0]["suspect"], d["rows"][0]["noise"]')" \
	"('harmonic', False, False)" "the JSON knows the kind of mean"
is "$(json 'd["sides"][0]["seconds_a_boot"]["elapsed"] > 0, d["differing_environment"]')" "(True, [])" \
	"durations, and an environment that is the same"

run culprit --repo "$TMP/p" compare "$TMP/job.yaml" good bad --format latex
is "$status" 129 "an unknown format is a usage error"
like "$err" 'mmtests' "that names those there are"
run culprit status
unlike "$out" '^ *2 ' "before anything was measured"
run culprit --repo "$TMP/p" run "$TMP/job.yaml" good
run culprit report 2 --format lkp
is "$status" 129 "a run is no table of a comparison"
finish
