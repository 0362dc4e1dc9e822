#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `culprit simulate`: the document, sameness whatever the workers, models that are wrong, Ctrl-C.
. "$(dirname "$0")/lib.sh"

model() { # NAME TEXT
	printf '%b' "$2" >"$TMP/$1.yaml"
}
simulate() { # NAME ARGUMENTS...
	local name=$1

	shift
	run culprit simulate "$TMP/$name.yaml" "$@"
}
document() { # AS NAME ARGUMENTS...: the document, kept for facts
	local as=$1

	shift
	simulate "$@" --json
	cp "$TMP/out" "$TMP/$as.json"
}
facts() { # lines of EXPRESSION | VALUE | TEXT over the kept documents, by one Python: it starts slowly
	local lines got i value text

	mapfile -t lines
	mapfile -t got < <(printf '%s\n' "${lines[@]}" | python3 -c '
import glob, json, math, os, sys
kept = {os.path.basename(p)[:-5]: json.load(open(p)) for p in glob.glob(sys.argv[1] + "/*.json")}
for line in sys.stdin:
    print(json.dumps(eval(line.split(" | ")[0], globals() | kept)))' "$TMP")
	for i in "${!lines[@]}"; do
		value=${lines[i]#* | }
		text=${value#* | }
		is "${got[i]-}" "${value%% | *}" "$text"
	done
}

model easy 'steps: [{delta: 10}]\nconfirm: false\n'
model proved 'steps: [{delta: 10}]\n'
model hard 'steps: [{delta: 1}]\nhistory: {commits: 32}\nerror: 0.2\nconfirm: no\n'
model aa '# every key has its default\n\n'
model zero 'steps: [{delta: 0, at: 5}]\n'
model blank ''
model dag 'history: {shape: dag, commits: 40, merges: 5}\nsteps: [{delta: 8, at: 39}]\ncost: {build: 5, boot: 2, run: 1}\nruns: 3\n'
model two 'steps: [{delta: 8, at: 9}, {delta: 8, at: 44}]\n'
model unbuilt 'steps: [{delta: 8}]\nuntestable: {rate: 0.5, run: 2}\n'
model modes 'noise: {sigma: 2, sigma_boot: 1, drift: 0.5, drift_period: 30, round: 0.5, missing: 0.1, known: yes, modes: [{share: 0.3, shift: 6}]}\n'
model many 'runs: 0\nnoise: {sigma: 0}\nerror: 1\nsteps: [{delta: 1, at: 70}, {delta: 1, at: 2}, {delta: x}]\n'
# the defaults as the documentation shows them, its step left out
sed -n '/^    history: /,/^$/s/^    //p' "$root/docs/statistics.md" | grep -v '^steps:' >"$TMP/doc.yaml"
is "$(grep -c : "$TMP/doc.yaml")" 10 "the model in the documentation"

document easy easy --trials 100
is "$status" 0 "a simulation"
is "$(cat "$TMP/out")" "$("$culprit" -q simulate "$TMP/easy.yaml" --json --trials 100 --seed 1 --jobs 3)" "--seed 1 is the default"
document proved proved --trials 50
document hard hard --trials 100
document one hard --trials 60 --jobs 1
document workers hard --trials 60 --jobs 2
document few hard --trials 3 --jobs 8
document seed hard --trials 60 --seed 2
document aa aa --trials 60
for name in aa zero blank doc; do
	document "nothing_$name" $name --trials 20
done
for name in dag two unbuilt; do
	document $name $name --trials 20
done
document modes modes --trials 5
is "$status" 0 "every key of the noise"
document many many

facts <<'FACTS'
list(easy) | ["schema_version", "trials", "right", "wrong", "in_set", "all", "outcomes", "boots", "builds", "cost", "wrong_rate", "set_size"] | the keys of the document
{type(easy[k]).__name__ for k in ("schema_version", "trials", "right", "wrong", "in_set", "all")} == {"int"} | true | counts are whole
list(easy["outcomes"]) | ["culprit", "range", "merge", "several", "not-monotone", "not-reproduced", "untestable", "budget"] | every outcome has its name
{type(v).__name__ for v in easy["outcomes"].values()} == {"int"} and sum(easy["outcomes"].values()) | 100 | and the trials are shared among them
[list(easy[k]) for k in ("boots", "builds", "cost")] | [["mean", "p95"], ["mean", "p95"], ["mean", "p95"]] | what it took
all(type(v) is float and v > 0 for k in ("boots", "builds", "cost") for v in easy[k].values()) | true | in numbers
[easy["schema_version"], easy["trials"]] | [1, 100] | as many trials as were asked for
[easy["right"], easy["wrong"], easy["in_set"], easy["all"], easy["outcomes"]["culprit"]] | [100, 0, 100, 100, 100] | an easy step is always found
abs(easy["cost"]["mean"] - easy["boots"]["mean"] - 2 * easy["builds"]["mean"]) < 1e-9 | true | a build costs two boots
[proved["wrong"], proved["in_set"]] | [0, 50] | with the confirmation none is wrong, and it is always reported
[list(easy["wrong_rate"]), easy["wrong_rate"]["low"]] | [["low", "high"], 0.0] | limits of the rate of wrong names
abs(easy["wrong_rate"]["high"] - (1 - 0.025 ** 0.01)) < 1e-9 | true | none wrong of n: the exact upper limit is 1 - 0.025^(1/n)
5 < hard["wrong"] < 50 | true | one that may be wrong in 20% is wrong at times
round(sum(math.comb(100, i) * hard["wrong_rate"]["high"] ** i * (1 - hard["wrong_rate"]["high"]) ** (100 - i) for i in range(hard["wrong"] + 1)), 9) | 0.025 | at the upper limit so few or fewer have a chance of 2.5%
round(sum(math.comb(100, i) * hard["wrong_rate"]["low"] ** i * (1 - hard["wrong_rate"]["low"]) ** (100 - i) for i in range(hard["wrong"], 101)), 9) | 0.025 | at the lower limit so many or more have
workers == one | true | two workers print what one prints
few["trials"] | 3 | more workers than trials
seed != one and seed["trials"] | 60 | another seed is another simulation
aa["right"] + aa["wrong"] | 60 | without a step it is right to name nothing
aa["outcomes"]["not-reproduced"] >= 58 | true | which is done nearly always
aa["set_size"] | null | and there is no set
nothing_aa["trials"] == 20 and nothing_zero == nothing_aa | true | a step of 0 is none
nothing_blank == nothing_aa | true | an empty file is all defaults
nothing_doc == nothing_aa | true | which are as documented
[dag["wrong"], abs(dag["cost"]["mean"] - 5 * dag["builds"]["mean"] - 5 * dag["boots"]["mean"]) < 1e-9] | [0, true] | a history with merges, and costs of builds, boots and runs
two["right"] >= two["all"] >= 10 | true | two steps, both named
unbuilt["set_size"] > 1 and unbuilt["in_set"] >= 19 | true | commits that do not build leave sets of several
[many["error"]["code"], many["error"]["message"].count("many.yaml:")] | ["usage", 5] | all faults of a model are told at once
FACTS

# for people
simulate two --trials 20
like "$out" '^20 searches of 64 commits, planted 8 sigma and 8 sigma, seed 1$' "as text: what was simulated"
like "$out" '^  right +[0-9]+ +[0-9.]+%  a planted step was named$' "how often it was right"
like "$out" '^  all +[0-9]+ +[0-9.]+%  every planted step was named$' "with all steps"
like "$out" '^  boots +[0-9.]+ +[0-9.]+$' "and what it took"
unlike "$out" 'nan|null' "without holes"

# every way to be wrong: place and text, then the model
tried=0
while IFS='|' read -r want text; do
	model bad "$text"
	simulate bad
	[ "$status" = 129 ] && [ -z "$out" ] && [ "$(grep -c '^/' "$TMP/err")" = 1 ] &&
		grep -qxF "$TMP/bad.yaml:$want" "$TMP/err"
	ok $? "$text" || printf '# exit %s\n# %s\n# want %s\n' "$status" "$err" "$want"
	tried=$((tried + 1))
done <<-'CASES'
	1:1: key 'step': unknown key, did you mean 'steps'?|step: []
	1:11: key 'comits': unknown key in 'history', did you mean 'commits'?|history: {comits: 5}
	1:9: key 'sigm': unknown key in 'noise', did you mean 'sigma'?|noise: {sigm: 1}
	1:10: key 'deltas': unknown key in 'steps', did you mean 'delta'?|steps: [{deltas: 1, delta: 2}]
	1:18: key 'shape': 'linea' is none of linear, dag, did you mean 'linear'?|history: {shape: linea}
	1:20: key 'commits': '0' must be from 1 to 1000000|history: {commits: 0}
	1:20: key 'commits': '6.5' is not a whole number|history: {commits: 6.5}
	1:19: key 'merges': a linear history has none, 'shape: dag' has|history: {merges: 3}
	1:44: key 'merges': 7 merges take at least 21 commits, not 20|history: {shape: dag, commits: 20, merges: 7}
	1:16: key 'sigma': '0' must be from 1e-09 to 1000000000|noise: {sigma: 0}
	1:16: key 'sigma': 'much' is not a number|noise: {sigma: much}
	1:16: key 'sigma': 'inf' is not a number|noise: {sigma: inf}
	1:16: key 'sigma': must be a number, not a list|noise: {sigma: [1]}
	1:19: key 'outliers': '1.5' must be from 0% to 100%|noise: {outliers: 1.5}
	1:18: key 'missing': '1' must be from 0% to 99%|noise: {missing: 1}
	1:23: key 'drift_period': '0' must be from 1 to 1000000000|noise: {drift_period: 0}
	1:16: key 'known': '1' is not true or false|noise: {known: 1}
	1:16: key 'modes': the shares are 130% together, over 100%|noise: {modes: [{share: 0.6, shift: 1}, {share: 0.7, shift: 2}]}
	1:17: key 'share': missing in 'modes': how many boots fall into it, for example 'share: 0.3'|noise: {modes: [{shift: 1}]}
	2:8: key 'at': 64 lies outside of the history, whose commits are 0 to 63|steps:\n- {at: 64, delta: 1}
	1:33: key 'at': a step at 7 is there already|steps: [{delta: 2, at: 7}, {at: 7, delta: 1}]
	1:26: key 'at': '-1' is not a whole number (for example 17)|steps: [{delta: 2}, {at: -1, delta: 1}]
	1:9: key 'delta': missing in 'steps': in sigma, positive is worse; 0: none, for example 'delta: 2'|steps: [{at: 3}]
	1:17: key 'delta': 'two' is not a number (for example 2)|steps: [{delta: two}]
	1:9: key 'steps': must be a mapping of keys like 'delta: 2', and is a text|steps: [2]
	1:8: key 'steps': must be a list of mappings, not a mapping|steps: {delta: 2}
	1:7: key 'steps': has no value, and must be a list of mappings|steps:
	1:7: key 'runs': must be a whole number, not a mapping|runs: {a: 1}
	1:7: key 'runs': '1001' must be from 1 to 1000|runs: 1001
	1:20: key 'rate': blocks of 1 commits make at most 50% untestable|untestable: {rate: 0.6, run: 1}
	1:19: key 'run': '0.5' must be from 1 to 1000000|untestable: {run: 0.5}
	1:14: key 'boot': '0' must be from 1e-09 to 1000000000|cost: {boot: 0}
	1:15: key 'build': '-1' must be from 0 to 1000000000|cost: {build: -1}
	1:8: key 'error': '0.5' must be from 0.001% to 20%|error: 0.5
	1:11: key 'ends_max': '4' must be from 5 to 5000|ends_max: 4
	1:10: key 'confirm': 'maybe' is not true or false|confirm: maybe
	2:1: key 'runs': given twice, first in line 1|runs: 1\nruns: 2
	1:1: must be a mapping of keys like 'history: ...', and is a list|- a
	2:1: key 'a': not YAML: did not find expected ',' or ']' while parsing a flow sequence from line 1 on|a: [1\n
CASES
is "$tried" 39 "all of them were tried"

simulate nowhere
is "$status" 128 "a file that is not there"
like "$err" "nowhere.yaml" "is named"
run culprit simulate
is "$status" 129 "a model must be named"
for wrong in '--trials 0' '--trials 10000001' '--trials x' '--trials -1' '--jobs 0' '--jobs 5000' '--seed -1' '--seeds 1' 'more'; do
	# shellcheck disable=SC2086
	simulate easy $wrong
	is "$status,$out" "129," "$wrong is a usage error"
done

# Ctrl-C, also when it reaches one process only; workers do not survive it
model long 'history: {commits: 1024}\nsteps: [{delta: 0.8}]\n'
stopped() { # SIGNAL STATUS ARGUMENTS...
	local signal=$1 want=$2

	shift 2
	"$culprit" simulate "$TMP/long.yaml" --trials 10000000 "$@" >"$TMP/out" 2>"$TMP/err" &
	pid=$!
	await grep -q simulating "$TMP/err"
	kill "-$signal" "$pid"
	wait "$pid"
	is $? "$want" "SIG$signal, $*"
	out=$(cat "$TMP/out")
	no_worker() { ! pgrep -f "simulate $TMP/long.yaml"; }
	await no_worker
	ok $? "and no worker is left"
}
stopped INT 130 --jobs 1
is "$out" "" "with nothing printed"
stopped INT 130 --jobs 2
is "$out" "" "with nothing printed"
stopped TERM 143 --jobs 2 --json
is "$(json '[list(d), d["error"]["code"]]')" '[["schema_version", "error"], "interrupted"]' "with the error as document"
finish
