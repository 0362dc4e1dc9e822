#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Mails about a culprit: read by Python's email and git, refusals, drafts on disks that refuse.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/project.sh"

culprit_message=$TMP/message
culprit_author='Renée "R" Müller'
long=$(head -c 10000 /dev/zero | tr '\0' y)
printf 'sched: caf\303\251 \033[2J <b> %s\n\nFrom a@b Thu Jan 1 00:00:00 1970\nBcc: all@example.com\n
Signed-off-by: Sig Ner <sig@example.com>\nSigned-off-by: Eve <eve@example.com>, <bcc@example.com>\nSigned-off-by: Eve <-oX@example.com>\n' \
	"$long" >"$culprit_message"
make_project "$TMP/p" 6 3
mkdir "$TMP/p/scripts"
cat >"$TMP/p/scripts/get_maintainer.pl" <<'SH'
#!/bin/sh
grep -q "^Subject:" "$3" || exit 1
printf 'Main Tainer <main@example.com>\n"List, The" <list@example.com>\nsig@example.com\n'
printf 'bad <a@b>\r\nBcc: <x@example.com>\nx@example.com, y@example.com\n'
SH
chmod +x "$TMP/p/scripts/get_maintainer.pl"
write_job "$TMP/job.yaml"
run culprit --repo "$TMP/p" bisect "$TMP/job.yaml" --good good --bad bad
is "$status" 0 "there is a culprit"
db=$XDG_STATE_HOME/culprit/culprit.db

run culprit mail 1
is "$status" 0 "a draft"
cp "$TMP/out" "$TMP/mail"
box=$XDG_STATE_HOME/culprit/mail/1.mbox
is "$(sed 1d "$box" | sed '$d' | cmp - "$TMP/mail" && head -c 5 "$box")" "From " "what is printed is kept as an mbox"
before=$tests
cat >"$TMP/check.py" <<'PY'
import email, email.policy, json, re, sys
n = int(sys.argv[3])
def ok(good, text):
    global n
    n += 1
    print(("ok" if good else "not ok"), n, "-", text)
raw = open(sys.argv[1], "rb").read()
m = email.message_from_bytes(raw, policy=email.policy.default)
ok(not m.defects and not any(p.defects for p in m.walk()), "an independent parser finds no defect")
ok([k for k in m.keys()] == ["From", "To", "Cc", "Subject", "Date", "Message-ID", "User-Agent", "MIME-Version", "Content-Type"],
   "headers, and nobody's own: %s" % m.keys())
ok(not any(h.defects for h in m.values()), "no header has a defect")
ok(m["To"].addresses[0].display_name == 'Renée "R" Müller', "author's name decoded: %s" % m["To"])
ok([a.addr_spec for a in m["To"].addresses] == ["tester@example.invalid", "sig@example.com"], "author and signers, no injected ones")
ok([a.addr_spec for a in m["Cc"].addresses] == ["main@example.com", "list@example.com"], "maintainers by the tree's script")
ok(re.fullmatch(r"\[p\] \[sched\] [0-9a-f]{10}: rate [0-9.]+% regression", m["Subject"]), "subject: %s" % m["Subject"])
ok(all(len(l) <= 998 for l in raw.split(b"\n")), "no line over 998")
ok(not re.search(rb"^(From |Bcc:)", raw, re.M), "no line that a mailbox or a header is made of")
text = m.get_body(("plain",))
body = text.get_content()
lines = body.split("\n")
ok(text.get_content_type() == "text/plain" and text.get_content_charset() == "utf-8" and "flowed" not in text["Content-Type"],
   "text/plain in UTF-8, not flowed")
ok({p["Content-Transfer-Encoding"] for p in m.walk() if not p.is_multipart()} <= {"7bit", "8bit"}, "neither base64 nor quoted")
ok(len(lines) < 100, "under 100 lines (%d)" % len(lines))
first = "\n".join(lines[:15])
order = ["rate of speed got ", "change -", "commit: ", "machine: ", "revert: ", "alignment: ", "changed functions: ",
         "mechanism: ", "better by the same commit: ", "newest commit: ", "second machine: "]
places = [first.find(w) for w in order]
ok(places[0] == 0 and places == sorted(places) and -1 not in places, "the first 15 lines in their order: %s" % places)
ok(re.search(r"revert: on top of bad regains (9[0-9]|1[0-9]{2})% of the loss", first), "how much a revert regains")
ok("second machine: was not run" in first, "what was not run is said")
prose = [l for l in lines if not re.match(r"^ +[-0-9.p]+ +(\+-|spread)", l) and not l.startswith("Fixes: ")]
ok(max(map(len, prose)) <= 72, "prose within 72 columns: %s" % max(prose, key=len))
ok(all(ord(c) < 128 for l in lines for c in l if re.search(r"\+-", l)), "tables are ASCII")
ok("#regzbot" not in body, "no regzbot unasked")
ok(re.search(r"^Fixes: [0-9a-f]{12} \(\"sched: café ", body, re.M) and "\033" not in body, "tags for the fixer, escapes gone")
parts = {p.get_filename(): p.get_content() for p in m.iter_attachments()}
ok(set(parts) == {"speed.yaml", "samples.json", "table.txt"}, "attachments: %s" % sorted(parts))
ok(parts["speed.yaml"] == open(sys.argv[2]).read(), "the job file as it was")
samples = parts["samples.json"]
samples = json.loads(samples if isinstance(samples, str) else samples.decode())
ok({s["purpose"] for s in samples["samples"]} >= {"end", "confirm", "revert"}, "raw samples of every boot")
ok("%stddev" in parts["table.txt"] and all(ord(c) < 128 for c in parts["table.txt"]), "the whole table in ASCII")
ok(len(raw) < 100 * 1024, "under 100 KB")
commands = body.split("in the tree's directory\n")[1].split("\n\n")[0]
open(sys.argv[4] + "/commands", "w").write(commands.replace("\\\n", " "))
open(sys.argv[4] + "/speed.yaml", "w").write(parts["speed.yaml"])
open(sys.argv[4] + "/body", "w").write(body)
PY
python3 "$TMP/check.py" "$TMP/mail" "$TMP/job.yaml" "$tests" "$TMP" >"$TMP/checked"
cat "$TMP/checked"
tests=$((tests + $(grep -c . "$TMP/checked")))
failures=$((failures + $(grep -c '^not ok' "$TMP/checked")))
is $((tests - before)) 24 "all of these were checked"

git mailinfo "$TMP/git-body" "$TMP/git-patch" <"$TMP/mail" >"$TMP/info" 2>/dev/null
like "$(cat "$TMP/info")" '^Subject: .*rate [0-9.]+% regression$' "git reads the subject"
is "$(head -1 "$TMP/git-body")" "$(head -1 "$TMP/body")" "git reads the text"
is "$(git mailsplit -o"$TMP" "$box")" 1 "the mbox holds one mail"

cp "$TMP/speed.yaml" "$TMP/p/"
is "$(grep -c '^  culprit' "$TMP/commands")" 3 "three commands"
while read -r program words; do
	: "$program"
	(cd "$TMP/p" && eval "$culprit --state $TMP/again $words" >"$TMP/out" 2>"$TMP/err" </dev/null)
	status=$?
	case $words in compare*) is "$status" 1 "works as printed: ${words:0:40}" ;;
	*) is "$status" 0 "works as printed: ${words:0:40}" ;; esac
done <"$TMP/commands"

id=$(grep -i '^message-id' "$TMP/mail")
run culprit mail 1 --regzbot --to 'Some Body <some@example.com>'
is "$(grep -i '^message-id' "$TMP/out")" "$id" "the Message-ID stays"
like "$out" '^To: Some Body <some@example.com>$' "--to is the only recipient"
unlike "$out" '^Cc:' "nobody else"
like "$out" '^#regzbot introduced: [0-9a-f]{40}$' "regzbot when asked"
run culprit mail 1 --to 'x@y.de>, <z@y.de'
is "$status" 129 "an address that injects is refused"
run culprit --json mail 1
is "$(json 'd["state"], d["to"][1], d["in_reply_to"]')" "('draft', 'sig@example.com', None)" "as JSON"

# what changes one fact of a copy of the database must refuse the mail, with its reason
cp "$db" "$TMP/kept.db"
refused() { # SQL PATTERN
	cp "$TMP/kept.db" "$db"
	sqlite3 "$db" "$1"
	run culprit mail 1
	is "$status" 1 "refused after: ${1:0:60}"
	like "$err" "No mail for .*$2" "with the reason"
}
refused "UPDATE sessions SET machine = 'qemu-tcg-icount'" "counts instructions, not time"
refused "UPDATE sessions SET machine = 'qemu-tcg'" "counts instructions, not time"
refused "UPDATE sessions SET kind = 'compare'" "a compare"
refused "UPDATE bisections SET outcome = ''" "not ended"
refused "UPDATE bisections SET outcome = 'range', culprit = NULL, culprits = '[]'" "its outcome is range"
for name in parent alignment reached; do
	refused "UPDATE bisections SET checks = json_set(checks, '\$.$name', 'fail')" "check '$name' failed"
done
refused "UPDATE session_metrics SET centre = 'max'" "single maximum"
refused "UPDATE sessions SET options = json_set(options, '\$.aa', json_object((SELECT cell FROM bisections), json('{\"rate\": {\"builds_pct\": 12.5}}')))" "builds of one commit differ by 12%"
refused "UPDATE samples SET value = value * 100 WHERE run IN (SELECT r.id FROM runs r JOIN boots b ON b.id = r.boot
	WHERE b.purpose = 'confirm' AND b.side = 'culprit' ORDER BY r.id LIMIT 1)" "noise"
refused "UPDATE boots SET purpose = 'search' WHERE purpose = 'confirm'" "fresh boots"

# a second machine's finding answers the first mail
cp "$TMP/kept.db" "$db"
sqlite3 "$db" "UPDATE sessions SET machine = 'box2'; UPDATE bisections SET checks = json_set(checks, '\$.alignment', 'pass')"
run culprit mail 1
like "$out" "^In-Reply-To: $(printf '%s' "${id#*: }" | sed 's/[.]/\\&/g')$" "a later finding of the same culprit answers the first mail"
like "$out" '^References: <' "with references"
unlike "$out" "^$id$" "and has an id of its own"
like "$out" '^alignment: holds with functions aligned to 64 bytes$' "a check that passed"

cp "$TMP/kept.db" "$db"
sqlite3 "$db" "UPDATE sessions SET job_source = job_source || hex(zeroblob(60000))"
run culprit mail 1
unlike "$out" 'multipart' "what is too large is not attached"
like "$out" "^  $XDG_STATE_HOME/culprit/mail/1/samples.json$" "but named by its path"
ok "$([ -s "$XDG_STATE_HOME/culprit/mail/1/table.txt" ]; echo $?)" "where it is"

cp "$TMP/kept.db" "$db"
rm -rf "$XDG_STATE_HOME/culprit/mail"
echo >"$XDG_STATE_HOME/culprit/mail"
run culprit mail 1
is "$status" 128 "a mail directory that cannot be made"
like "$err" "the draft '.*mail/1.mbox'" "is named"
rm -f "$XDG_STATE_HOME/culprit/mail"
mkdir "$XDG_STATE_HOME/culprit/mail"
if mount -t tmpfs -o size=4k none "$XDG_STATE_HOME/culprit/mail" 2>/dev/null; then
	run culprit mail 1 --to some@example.com
	is "$status" 128 "a full mail directory"
	like "$err" "the draft .*No space left" "says so"
	is "$(find "$XDG_STATE_HOME/culprit/mail" -name '*.mbox')" "" "and leaves no half of a draft"
	mount -o remount,ro "$XDG_STATE_HOME/culprit/mail"
	run culprit mail 1 --to some@example.com
	is "$status" 128 "a read-only mail directory"
	like "$err" "Read-only" "says so"
	umount "$XDG_STATE_HOME/culprit/mail"
else
	skip "no right to mount a small file system"
fi
finish
