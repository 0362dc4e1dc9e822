#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What earlier sessions measured: used where the ends still agree with it, refused by --fresh.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/project.sh"

make_project "$TMP/p" 40 23
truth=$(git -C "$TMP/p" rev-parse bad~17)
echo 1 >"$TMP/machine" # how fast the machine is: no file of the project
write_job "$TMP/job.yaml"
sed -i "s|run: .*|run: {command: './bench.sh \| awk -F= -v m=\$(cat $TMP/machine) \"{ print \\\\\"rate=\\\\\" \\\\\$2 * m }\"', timeout: 20s}|" "$TMP/job.yaml"
bisect=("$culprit" --repo "$TMP/p" --json bisect "$TMP/job.yaml" --good good --bad bad --again)

earlier() { # the journal's line about them
	"$culprit" log "$1" | grep "reuse"
}

run "${bisect[@]}"
is "$status" 0 "a first bisection"
is "$(json 'd["culprit"]')" "$truth" "names the culprit"
first=$(json 'd["cost"]["boots"]') builds=$(json 'd["cost"]["builds"]')
like "$(earlier "$(json 'd["bisect"]')")" " 0 boot values of 0 earlier sessions" "with nothing to go by"

run "${bisect[@]}"
is "$(json 'd["culprit"]')" "$truth" "a second one, too"
second=$(json 'd["cost"]["boots"]')
like "$(earlier "$(json 'd["bisect"]')")" " [1-9][0-9]* boot values of 1 earlier sessions; 0 do not" "from what the first measured"
ok "$([ "$second" -lt "$first" ]; echo $?)" "with fewer boots ($second after $first)"
run culprit report "$(json 'd["bisect"]')"
like "$out" "boot values of earlier sessions" "the report says what was old"

run "${bisect[@]}" --fresh
is "$(json 'd["culprit"]')" "$truth" "--fresh finds it alone"
is "$(earlier "$(json 'd["bisect"]')")" "" "and asks nobody"
ok "$([ "$(json 'd["cost"]["boots"]')" -gt "$second" ]; echo $?)" "with more boots ($(json 'd["cost"]["boots"]'))"

echo 0.8 >"$TMP/machine"
run "${bisect[@]}"
is "$(json 'd["culprit"]')" "$truth" "on a machine that became slower"
like "$(earlier "$(json 'd["bisect"]')")" " 0 boot values of 0 earlier sessions; 3 do not" "nothing of before counts"
run culprit report "$(json 'd["bisect"]')"
unlike "$out" "boot values of earlier sessions" "and the report claims nothing"
finish
