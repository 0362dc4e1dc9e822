#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `bisect --failures`: which commit makes runs fail, where they fail in some boots only.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/project.sh"

write_job "$TMP/job.yaml"
make_project "$TMP/p" 0 0
(
	cd "$TMP/p" || exit 1
	# fails in so many of 100 boots as the file says, drawn from the boot's number
	cat >bench.sh <<-'SH'
		#!/bin/sh
		draw=$(printf 'boot %s' "$CULPRIT_BOOT" | cksum | cut -d ' ' -f 1)
		test $((draw / 7 % 100)) -ge "$(cat share)" || { echo "BUG: list corrupted"; exit 1; }
		echo rate=1000
	SH
	echo 0 >share
	git add -A . && git commit -qm start && git tag -f good
	for i in $(seq 1 6); do
		[ "$i" = 4 ] && echo 40 >share
		echo "$i" >"file$i"
		git add -A . && git commit -qm "change $i"
	done
	git tag -f bad
) >/dev/null 2>&1
search() { run culprit --repo "$TMP/p" --no-progress --json bisect "$TMP/job.yaml" "$@"; }

search good..bad --failures
is "$status" 0 "a run that fails in 40% of the boots is found"
is "$(json '[d["outcome"], d["subject"]]')" '["culprit", "change 4"]' "where it began"
is "$(json 'd["metric"], d["effect"]["unit"]')" "('failures', 'of boots')" "what was counted"
is "$(json 'd["effect"]["good"] == 0 and 0.15 < d["effect"]["bad"] < 0.7')" true "the effect is the share of fresh boots that failed"
is "$(json 'd["effect"]["percent"]')" null "of which there is no percentage"
is "$(json '[d["checks"][k] for k in ("ends","parent","revert")]')" '["pass", "pass", "pass"]' "ends, parent and revert pass"
is "$(json 'd["probability"] >= 0.99')" true "as sure as for numbers"
id=$(json 'd["bisect"]')
run culprit report "$id"
like "$out" "effect +0(\.0+)? -> 0\.[0-9]+ of boots" "the report says the two shares"
like "$out" "good +[1-9][0-9]* +0(\.0+)? +[0-9a-f]{12} .*start" "boots and shares of what was tried"
like "$out" "bad +[1-9][0-9]* +0\.[0-9]+ +[0-9a-f]{12} .*change 6" "of bad, too"
like "$out" "--failures" "and the command to search again"
run culprit mail "$id"
like "$err" "[Nn]o mail for a bisection of failures" "mails are about numbers"
search good..bad --failures
is "$(json 'd["bisect"]')" "$id" "asked again, it is found done"

sed -i 's/max: 40/max: 8/' "$TMP/job.yaml"
search good..bad~3 --failures
is "$status" 1 "where nothing fails, nobody is named"
is "$(json '[d["outcome"], d["culprit"]]')" '["not-reproduced", null]' "not reproduced"
search good..bad --failures --metric rate
is "$status" 129 "failures are no metric of the job"
finish
