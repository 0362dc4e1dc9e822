#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a commit says never reaches the terminal as it is: a bisection that ends at a hostile one.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/project.sh"

culprit_message=$TMP/message
culprit_author=$(printf 'Eve\033[31m \342\200\256 <b>\377')
printf '\033[2Jclear \033]0;title\007 \342\200\256evil \377 <script>x</script> %s\nFrom a@b Thu Jan 1 00:00:00 1970\nBcc: all@example.com\n' \
	"$(head -c 10000 /dev/zero | tr '\0' y)" >"$culprit_message"
make_project "$TMP/p" 4 3 2>"$TMP/warnings" # of git about the encoding
write_job "$TMP/job.yaml"
sed "s/^  rate:/  '<script>':/" "$TMP/job.yaml" >"$TMP/script.yaml"
run culprit check "$TMP/script.yaml"
is "$status" 129 "a job cannot name its metric <script>"

harmless() { # TEXT: of the file that the last command printed
	! LC_ALL=C grep -q "$(printf '[\033\007]')" "$TMP/out" && ! grep -q "$(printf '\342\200\256')" "$TMP/out" &&
		python3 -c 'import sys; open(sys.argv[1], encoding="utf-8").read()' "$TMP/out"
	ok $? "$1"
}

run culprit --repo "$TMP/p" bisect "$TMP/job.yaml" --good good --bad bad
is "$status" 0 "the culprit is found"
like "$out" '"\?\[2Jclear ' "and is there to see"
harmless "bisect"
is "$(printf '%s\n' "$out" | awk 'length > 300' | wc -l)" 0 "10,000 characters are cut"
# a database that came from elsewhere can
sqlite3 "$TMP/state/culprit/culprit.db" "UPDATE session_metrics SET name = '<script>';
	UPDATE metrics SET name = '<script>'; UPDATE bisections SET metric = '<script>'"
for verb in "report 1" "report 1 --format lkp" "report 1 --format mmtests" "log 1" "show 1" status "history <script>"; do
	# shellcheck disable=SC2086
	run culprit $verb
	is "$status" 0 "$verb works"
	harmless "$verb is harmless"
done
unlike "$(cat "$TMP/out")" '^From |^Bcc:' "no line pretends to be another"
run culprit --json report 1
harmless "the JSON document, too"
is "$(json 'd["metric"]')" '<script>' "where the metric is called what it is called"
finish
