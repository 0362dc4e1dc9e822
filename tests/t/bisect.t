#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whole bisections of a small project by the local runner.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/project.sh"

write_job "$TMP/job.yaml"
make_project "$TMP/p" 20 13
truth=$(git -C "$TMP/p" rev-parse bad~7)
is "$(git -C "$TMP/p" log -1 --format=%s "$truth")" "change 13" "the test knows the culprit"
before=$(cd "$TMP/p" && git status --porcelain && find .git | sort | md5sum)

run culprit --repo "$TMP/p" --json bisect "$TMP/job.yaml" --good good --bad bad
is "$status" 0 "a bisection that names its culprit ends with 0"
is "$(json 'd["outcome"]')" culprit "outcome"
is "$(json 'd["culprit"]')" "$truth" "the right commit is named"
is "$(json 'd["subject"]')" "change 13" "with its subject"
is "$(json '-12 < d["effect"]["percent"] < -8')" true "the effect is about -10%"
is "$(json 'd["effect"]["low"] < d["effect"]["percent"] < d["effect"]["high"]')" true "within its interval"
is "$(json '[d["checks"][k] for k in ("ends","parent","revert","same_code")]')" \
	'["pass", "pass", "pass", "na"]' "ends, parent and revert pass; code is not known here"
is "$(json 'sum(c["probability"] for c in d["candidates"]) >= 0.99')" true "the set has the mass that was asked for"
is "$(json 'd["cost"]["boots"] <= 40')" true "within 40 boots"
is "$(cd "$TMP/p" && git status --porcelain && find .git | sort | md5sum)" "$before" "the user's repository is untouched"
boots=$(json 'd["cost"]["boots"]')
id=$(json 'd["bisect"]')

run culprit --repo "$TMP/p" --json bisect "$TMP/job.yaml" good..bad
is "$(json 'd["bisect"], d["cost"]["boots"]')" "($id, $boots)" "finished: the result is printed, nothing measured"
run culprit report "$id"
like "$out" "change 13" "the report names the commit"
like "$out" "pass" "and the checks"
like "$out" "alike with p (= 0\.[0-9]+|under 0\.001)" "and what fresh boots showed, no further out than is known"
run culprit log "$id"
like "$out" "change 13" "the journal names it, too"

make_project "$TMP/q" 12 5 6
run culprit --repo "$TMP/q" --json bisect "$TMP/job.yaml" --good good --bad bad
is "$(json 'd["outcome"]')" culprit "an unbuildable commit after the culprit does not hide it"
is "$(json 'd["subject"]')" "change 5" "the right one"

make_project "$TMP/r" 12 6 5
run culprit --repo "$TMP/r" --json bisect "$TMP/job.yaml" --good good --bad bad
is "$status" 1 "next to an unbuildable parent nothing is proved"
is "$(json 'd["outcome"]')" range "the outcome is a range"
is "$(json 'sorted(c["commit"] for c in d["candidates"])')" \
	"$(python3 -c 'import json,sys; print(json.dumps(sorted(sys.argv[1:])))' \
		"$(git -C "$TMP/r" rev-parse bad~6)" "$(git -C "$TMP/r" rev-parse bad~7)")" \
	"of the unbuildable commit and its child"

make_project "$TMP/aa" 8 0
run culprit --repo "$TMP/aa" --json bisect "$TMP/job.yaml" --good good --bad bad
is "$status" 1 "no step: 1"
is "$(json 'd["outcome"]')" not-reproduced "no step: not reproduced"
is "$(json 'd["culprit"]')" null "and nobody is named"

run culprit --repo "$TMP/p" bisect "$TMP/job.yaml" --good bad --bad good
is "$status" 129 "swapped ends are a usage error"
like "$err" "ancestor" "that says why"
run culprit --repo "$TMP/p" bisect "$TMP/job.yaml" --good good --bad good
is "$status" 129 "equal ends too"
run culprit --repo "$TMP/p" bisect "$TMP/job.yaml" --good goof --bad bad
is "$status" 128 "a revision that does not exist"
like "$err" "did you mean 'good'" "and the nearest name"
run culprit --repo "$TMP/p" --json bisect "$TMP/job.yaml" --good nothing --bad bad
is "$(json 'd["schema_version"], d["error"]["code"]')" "(1, 'not-found')" "errors are JSON documents, too"
# a good end by itself: the newest release tag that is better, whatever lies between
make_project "$TMP/auto" 14 9
git -C "$TMP/auto" tag v1.0 bad~12
git -C "$TMP/auto" tag v1.1 bad~8
git -C "$TMP/auto" tag v1.2-rc1 bad~4
git -C "$TMP/auto" tag v1.2 bad~2
run culprit --repo "$TMP/auto" --json bisect "$TMP/job.yaml" --good auto --bad bad
is "$status" 0 "good: auto"
is "$(json 'd["subject"]')" "change 9" "leads to the right commit"
is "$(json 'd["good"]')" "$(git -C "$TMP/auto" rev-parse v1.1)" "from the newest release that was better"
run culprit --repo "$TMP/auto" --json bisect "$TMP/job.yaml" --good auto --bad bad
is "$status" 0 "asked again, it is found done"
git -C "$TMP/auto" tag -d v1.0 v1.1 >/dev/null
run culprit --repo "$TMP/auto" bisect "$TMP/job.yaml" --good auto --bad bad~1
is "$status" 129 "where no release was better"
like "$err" "name a good commit" "one has to be named"

# a merge whose sides are good: the report offers to search one side on top of the other
mkdir "$TMP/m" && cp "$TMP/p/bench.sh" "$TMP/p/Makefile" "$TMP/m"
sed -i 's/cat level/if [ -e a ] \&\& [ -e b ]; then echo 900; else echo 1000; fi/' "$TMP/m/bench.sh"
(
	commit() { touch "$1" && git add -A . && git commit -qm "add $1"; }
	cd "$TMP/m" && git init -q && git add -A . && git commit -qm base && git tag good
	commit x && commit a && commit y
	git checkout -q -b side good
	commit s && commit b && commit t
	git checkout -q master && git merge -q --no-ff -m "merge side" side
	commit z
)
run culprit --repo "$TMP/m" --json bisect "$TMP/job.yaml" --good good --bad master
is "$(json '[d["outcome"], d["subject"]]')" '["merge", "merge side"]' "a merge of two good sides is named as such"
run culprit report "$(json 'd["bisect"]')"
offer=$(printf '%s\n' "$out" | tr -s '\n ' ' ' | grep -o 'git worktree add .*\.\.HEAD' | sed "s|culprit --repo|$culprit --json --repo|; s|DIR|$TMP/replay|g")
run sh -c "cd '$TMP/m' && $offer"
is "$status" 0 "what it offers works as printed"
out="{${out#*\{}" # git prints a line first
is "$(json 'd["subject"]')" "add b" "and finds the commit of the side branch that it takes"

finish
