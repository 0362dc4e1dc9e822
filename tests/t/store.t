#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What was measured, read back: status, show, log, history, report, export; a person's word by void and
# skip; databases that cannot be used.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/project.sh"

write_job "$TMP/job.yaml"
make_project "$TMP/p" 6 3
evil=$(printf 'evil \033[2J\nSubject: fake')
git -C "$TMP/p" commit -q --allow-empty -m "$evil"
git -C "$TMP/p" tag evil

run culprit status
is "$status" 0 "status of nothing"
like "$out" "nothing was measured" "says so"
run culprit --json status
is "$(json 'd["sessions"]')" "[]" "and lists nothing"
run culprit report 1
is "$status" 128 "there is no report yet"
like "$err" "culprit run" "the hint says how to begin"
run culprit --json log
is "$(json 'd["error"]["code"]')" not-found "nor a journal"

run culprit --repo "$TMP/p" --json compare "$TMP/job.yaml" old=good new=evil
is "$status" 1 "a comparison that shows a regression ends with 1"
is "$(json 'd["schema_version"]')" 1 "its document"
is "$(json '[s["name"] for s in d["sides"]]')" '["old", "new"]' "names the columns"
row='d["rows"][0]'
is "$(json "$row"'["verdict"]')" regression "verdict"
is "$(json "-12 < $row"'["low"] < '"$row"'["percent"] < '"$row"'["high"] < -8')" true "about -10%, within the interval"
boots=$(json "$row"'["sides"][0]["boots"]')
id=$(json 'd["compare"]')
document=$out

run culprit --json report "$id"
is "$status" 0 "report reads it back"
is "$(json '[d["rows"], d["sides"]]')" "$(printf '%s' "$document" | python3 -c 'import json,sys
d = json.load(sys.stdin); print(json.dumps([d["rows"], d["sides"]]))')" "the same as was printed"
run culprit report "$id"
like "$out" "REGRESSION" "as text, too"
unlike "$out" $'\033' "without the escapes of a subject"
unlike "$out" "^Subject: fake" "and without its lines"
run culprit report "$id" --format latex
is "$status" 129 "a format that is not there"

run culprit --json status
is "$(json '[(s["session"], s["kind"], s["state"], s["holder"]) for s in d["sessions"]]')" \
	"[[$id, \"compare\", \"done\", null]]" "status: done, and nobody holds it"
run culprit --json show "$id"
is "$(json 'len(d["boots"])')" "$((2 * boots))" "show lists the boots"
last=$(json 'd["boots"][-1]["boot"]')
is "$(json '{b["status"] for b in d["boots"]} == {"ok"}')" true "all of them went well"
run culprit show "$id"
like "$out" "compare  old +ok" "as text, too"
run culprit show "$id" --boot "$last"
like "$out" "rate=[0-9]" "what a run printed is kept"
run culprit show "$id" --job
is "$out" "$(cat "$TMP/job.yaml")" "and the job"
run culprit --json log "$id"
is "$(json '[s["commit"] for s in d["steps"] if s["what"] == "build"] != []')" true "the journal has the builds"
run culprit --json history rate
is "$(json 'len(d["points"])')" "$((2 * boots))" "a point a boot in the history"
run culprit history speed
is "$status" 128 "a metric nobody measured"

run culprit void boot "$last"
is "$status" 129 "voiding a boot needs a reason"
like "$err" "--why" "and says how to give it"
run culprit void boot "$last" --why "the door was open"
is "$status" 0 "a person voids a boot"
run culprit void boot 99 --why x
is "$status" 128 "one that is not there"
run culprit void table 1 --why x
is "$status" 129 "only boots can be voided"
run culprit --json report "$id"
is "$(json 'sum(s["boots"] for s in d["rows"][0]["sides"])')" "$((2 * boots - 1))" "the report leaves it out"
run culprit show "$id"
like "$out" "void .*the door was open" "show says why"
run culprit log "$id"
like "$out" "void .*the door was open" "so does the journal"

run culprit export
is "$status" 0 "export"
is "$(printf '%s\n' "$out" | python3 -c 'import json,sys
rows = [json.loads(line) for line in sys.stdin]
print(sum(r["table"] == "boots" for r in rows), sum(r["table"] == "samples" for r in rows))')" \
	"$((2 * boots)) $((2 * boots))" "is JSON lines, the voided boot among them"
if [ -w /dev/full ]; then
	status=0
	"$culprit" export >/dev/full 2>"$TMP/err" || status=$?
	is "$status" 128 "an export that cannot be written is an error"
fi

run culprit skip "$id" good
is "$status" 129 "commits are skipped in bisections alone"
run culprit skip x good
is "$status" 129 "not in words"
run culprit --repo "$TMP/p" --json bisect "$TMP/job.yaml" good..bad
bisection=$(json 'd["bisect"]')
run culprit --json show "$bisection"
is "$(json 'd["session"]["command"][-1]')" good..bad "the command is kept as it was typed"
run culprit skip "$bisection" bad~1
is "$status" 0 "a commit is skipped"
run culprit log "$bisection"
like "$out" "skip +$(git -C "$TMP/p" rev-parse --short=12 bad~1)" "the journal says which"
run culprit skip "$bisection" no-such-rev
is "$status" 128 "one that is not there is not"

# databases that cannot be used
db=$XDG_STATE_HOME/culprit/culprit.db
cp "$db" "$TMP/good.db"
sqlite3 "$db" "PRAGMA user_version = 99" 2>/dev/null
run culprit --json report "$id"
is "$status" 128 "a newer database"
is "$(json 'd["error"]["code"]')" too-new "is told as such"
run culprit --repo "$TMP/p" run "$TMP/job.yaml" good
is "$status" 128 "and not written to"
rm -f "$db"*
echo "this is no database at all, but a text" >"$db"
run culprit status
is "$status" 128 "a damaged one"
like "$err" "damaged" "too"
cp "$TMP/good.db" "$db"
if [ "$(id -u)" = 0 ]; then
	skip "a read-only state: root may write it"
else
	chmod -R a-w "$XDG_STATE_HOME"
	run culprit report "$id"
	is "$status" 0 "a read-only state can be read"
	run culprit --repo "$TMP/p" run "$TMP/job.yaml" good
	is "$status" 128 "but not written"
	like "$err" "state" "which it says"
	chmod -R u+w "$XDG_STATE_HOME"
fi
finish
