#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Sending mails to an SMTP server on loopback: settings that forbid it, TLS, a login, refusals, a crash.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/project.sh"

/usr/bin/python3 -c 'import aiosmtpd' 2>/dev/null || skip_all "python3-aiosmtpd is not installed"
servers=
trap 'for s in $servers; do kill "$s" 2>/dev/null; done; cleanup' EXIT

serve() { # MODE: a server of its own directory; sets $port and $box
	box=$TMP/smtp-$1
	mkdir -p "$box"
	"$root/tests/fakes/smtpd.py" "$box" "$1" "$TMP/cert.pem" "$TMP/key.pem" >"$box/log" 2>&1 &
	servers="$servers $!"
	server=$!
	await test -e "$box/port"
	port=$(cat "$box/port")
}
settings() { # LINE...: below mail:
	mkdir -p "$XDG_CONFIG_HOME/culprit"
	{ echo mail: && printf '  %s\n' 'from: "Ro Bot <robot@example.com>"' "$@"; } >"$XDG_CONFIG_HOME/culprit/config.yaml"
}
taken() { # mails that the present server took
	find "$box" -name '*.eml' | wc -l
}
fresh() { # forgets that a mail was sent
	sqlite3 "$db" 'DELETE FROM mails'
}
state() {
	sqlite3 "$db" 'SELECT state FROM mails'
}

openssl req -x509 -newkey rsa:2048 -nodes -keyout "$TMP/key.pem" -out "$TMP/cert.pem" -days 2 -subj /CN=127.0.0.1 \
	-addext subjectAltName=IP:127.0.0.1 2>/dev/null
make_project "$TMP/p" 4 2
write_job "$TMP/job.yaml"
run culprit --repo "$TMP/p" bisect "$TMP/job.yaml" --good good --bad bad
is "$status" 0 "there is a culprit"
db=$XDG_STATE_HOME/culprit/culprit.db

serve plain
plain="server: 127.0.0.1:$port"
run culprit mail 1 --send
is "$status" 129 "without settings nothing is sent"
like "$err" "mail.mode is draft" "and it says why"
settings 'mode: send' "$plain" 'tls: none' 'allow: [somebody@example.com]'
run culprit mail 1 --send
is "$status" 129 "an address that is not allowed"
like "$err" "'tester@example.invalid'" "is named"
settings 'mode: sent' 'allow: [nobody]' 'servr: x' 'per_day: 0'
run culprit mail 1 --send
is "$status" 129 "settings that are wrong"
for word in "config.yaml:3:.*'sent'" "'nobody' is neither" "'servr'.*server" "'per_day'"; do
	like "$err" "$word" "name the fault: $word"
done
is "$(taken)" 0 "the server got nothing so far"

settings 'mode: send' "$plain" 'tls: none' "allow: ['*']" 'archive: https://example.com/r/' 'per_day: 1'
run culprit mail 1 --send
is "$status" 0 "sent"
is "$(taken)" 1 "and taken"
is "$(cat "$box/1.to")" "robot@example.com tester@example.invalid" "by its envelope"
is "$(tr -d '\r' <"$box/1.eml" | diff - "$TMP/out" && state)" sent "as it was printed"
id=$(sed -n 's/^Message-ID: <\(.*\)>$/\1/p' "$TMP/out")
like "$out" "^Closes: https://example.com/r/$id$" "with its link"
run culprit mail 1 --send
is "$status" 125 "not twice"
like "$err" "was sent on 20" "which it says"
is "$(taken)" 1 "no second mail"
sqlite3 "$db" "UPDATE sessions SET machine = 'box2'"
run culprit mail 1 --send
is "$status" 128 "the day's limit"
like "$err" "mail.per_day.*queued" "queues it"
is "$(taken) $(sqlite3 "$db" 'SELECT state FROM mails ORDER BY id')" "1 sent
queued" "and nothing is sent"
settings 'mode: send' "$plain" 'tls: none' "allow: ['*']"
run culprit mail 1 --send
is "$status $(taken)" "0 2" "it is sent when there is room"
like "$out" "^In-Reply-To: <$id>$" "as an answer to the first one"

fresh
settings 'mode: send' "$plain" "allow: ['*']"
run culprit mail 1 --send
is "$status $(state)" "128 queued" "a server without STARTTLS is refused by default"
is "$(taken)" 2 "without a word of the mail"
settings 'mode: send' "$plain" 'tls: none' "allow: ['*']" 'user: ann'
CULPRIT_SMTP_PASSWORD=x run culprit mail 1 --send
is "$status" 129 "no password without TLS"

# --- TLS ---
serve starttls
settings 'mode: send' "server: 127.0.0.1:$port" "allow: ['*']"
run culprit mail 1 --send
is "$status $(taken)" "128 0" "a certificate that nobody vouches for"
like "$err" "certificate" "is named"
settings 'mode: send' "server: 127.0.0.1:$port" "allow: ['*']" "ca_file: $TMP/cert.pem"
run culprit mail 1 --send
is "$status $(taken)" "0 1" "STARTTLS"
fresh
serve tls
settings 'mode: send' "server: 127.0.0.1:$port" 'tls: tls' "allow: ['*']" "ca_file: $TMP/cert.pem"
run culprit mail 1 --send
is "$status $(taken)" "0 1" "SMTPS"
fresh
serve auth
settings 'mode: send' "server: 127.0.0.1:$port" "allow: ['*']" "ca_file: $TMP/cert.pem" 'user: ann'
run culprit mail 1 --send
is "$status" 129 "no password"
CULPRIT_SMTP_PASSWORD='wrong' run culprit mail 1 --send
is "$status $(taken)" "128 0" "a wrong password"
CULPRIT_SMTP_PASSWORD='open sesame' run culprit mail 1 --send
is "$status $(taken)" "0 1" "a login from the environment"
fresh
echo 'open sesame' >"$TMP/password"
settings 'mode: send' "server: 127.0.0.1:$port" "allow: ['*']" "ca_file: $TMP/cert.pem" 'user: ann' "password_file: $TMP/password"
run culprit mail 1 --send
is "$status $(taken)" "0 2" "and from a file"

# --- servers that do not take it ---
for mode in busy refuse; do
	fresh
	serve $mode
	settings 'mode: send' "server: 127.0.0.1:$port" 'tls: none' "allow: ['*']"
	run culprit mail 1 --send
	is "$status $(state)" "128 queued" "$mode: queued"
	like "$err" "refused with (451|550)" "with the server's answer"
done
kill "$server"
wait "$server" 2>/dev/null
run culprit mail 1 --send
is "$status $(state)" "128 queued" "no server: queued"
run culprit mail 1
is "$status" 0 "it still is there to see"
id=$(sed -n 's/^Message-ID: <\(.*\)>$/\1/p' "$TMP/out")

serve drop
settings 'mode: send' "server: 127.0.0.1:$port" 'tls: none' "allow: ['*']"
run culprit mail 1 --send
is "$status $(state) $(taken)" "128 handed-over 1" "taken, but the answer was lost"
run culprit mail 1 --send
is "$status $(taken)" "125 1" "it is not sent again by itself"
like "$err" "may be out" "which it says"

# killed between the last dot and the answer of a server that never gives one
fresh
serve silent
settings 'mode: send' "server: 127.0.0.1:$port" 'tls: none' "allow: ['*']"
"$culprit" mail 1 --send >"$TMP/out" 2>"$TMP/err" </dev/null &
sender=$!
await test -e "$box/1.eml"
kill -9 $sender
wait $sender 2>/dev/null
is "$(state)" handed-over "killed before the answer: known to be handed over"
id=$(sqlite3 "$db" 'SELECT message_id FROM mails')
run culprit mail 1 --send
is "$status $(taken)" "125 1" "not sent twice after the crash"
serve again
settings 'mode: send' "server: 127.0.0.1:$port" 'tls: none' "allow: ['*']"
run culprit mail 1 --send --again
is "$status $(taken)" "0 1" "a person can send it again"
is "$(sed -n 's/^Message-ID: <\(.*\)>\r*$/\1/p' "$box/1.eml" | tr -d '\r')" "$id" "with the Message-ID that was stored first"
finish
