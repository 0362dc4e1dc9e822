#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `export` and `import`: one state's sessions become part of another, once, and whole or not at all.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/project.sh"

write_job "$TMP/job.yaml"
make_project "$TMP/p" 4 3
here() { run culprit --state "$TMP/here" --repo "$TMP/p" --no-progress "$@"; }
there() { run culprit --state "$TMP/there" --repo "$TMP/p" --no-progress "$@"; }
rows() { # STATE: rows of every table
	python3 - "$TMP/$1/culprit.db" <<-'PY'
		import sqlite3, sys
		c = sqlite3.connect(sys.argv[1])
		tables = [r[0] for r in c.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
		print({t: c.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in tables})
		assert not c.execute("PRAGMA foreign_key_check").fetchall()
	PY
}

here run "$TMP/job.yaml" good
there --json compare "$TMP/job.yaml" good bad
there_rows=$(json 'd["rows"]')
there void boot 1 --why "the door was open"
there --json report 1
there_rows=$(json 'd["rows"]')
there export
printf '%s\n' "$out" >"$TMP/export"
like "$(head -n 1 "$TMP/export")" '"table":"state"' "an export says first which database it is of"

here --json import "$TMP/export"
is "$status" 0 "it is imported"
is "$(json '[d["sessions_added"], d["sessions_known"], d["lines"]]')" "[1, 0, $(wc -l <"$TMP/export")]" "a session more"
once=$(rows here)
here --json import "$TMP/export"
is "$(json '[d["rows_added"], d["sessions_added"], d["sessions_known"]]')" "[0, 0, 1]" "twice adds nothing"
is "$(rows here)" "$once" "to no table"
here --json report 2
is "$(json 'd["rows"]')" "$there_rows" "its report is the same, the voided boot left out"
here show 2
like "$out" "the door was open" "and that is told here, too"
here --json status
is "$(json '[(s["session"], s["kind"], s["state"]) for s in d["sessions"]]')" \
	'[[2, "compare", "done"], [1, "run", "done"]]' "both are listed"
like "$(json '[s["machine"] for s in d["sessions"]][0]')" '^local@[0-9a-f]{8}$' "the other's machine is another one"

# by way of a third state it is the same session
here export
printf '%s\n' "$out" >"$TMP/both"
there --json import "$TMP/both"
is "$(json '[d["sessions_added"], d["sessions_known"]]')" "[1, 1]" "what comes back to where it was measured is known there"
run culprit --state "$TMP/third" --json import "$TMP/both"
run culprit --state "$TMP/third" --json import "$TMP/export"
is "$(json '[d["sessions_added"], d["rows_added"]]')" "[0, 0]" "and what came another way is, too"
run culprit --state "$TMP/third" --json report 2
is "$(json 'd["rows"]')" "$there_rows" "with its numbers"
run culprit --state "$TMP/fourth" --json import --same-machines "$TMP/export"
run culprit --state "$TMP/fourth" --json status
is "$(json '[s["machine"] for s in d["sessions"]]')" '["local"]' "--same-machines keeps their names"

# what is no export
before=$(rows here)
refused() { # LINE PATTERN TEXT: the export of another database with this line at its end
	{ sed 's/"name":"[0-9a-f]\{32\}"/"name":"0123456789abcdef0123456789abcdef"/' "$TMP/export"; printf '%s\n' "$1"; } >"$TMP/bad"
	here import "$TMP/bad"
	is "$status" 129 "$3"
	like "$err" "line $(wc -l <"$TMP/bad").*$2" "is told with its line"
}
refused '{"table":"boots"' 'JSON' "a line that is cut off"
refused '{"tabel":"boots"}' "no 'table'" "a row of nothing"
refused '{"table":"boats","id":1}' "no table 'boats'" "a table that is not there"
refused '{"table":"skips","session":99,"commit_sha":"x","when_s":1}' "'session' 99" "a row of a session that is not there"
refused '{"table":"skips","session":1,"commit_sha":"x","when_s":1}' "refuses" "a commit that is not there"
refused '{"table":"skips","session":1,"commit_sha":[],"when_s":1}' "neither a number nor a text" "a list for a value"
refused '{"table":"skips","session":1,"sha":"x","when_s":1}' "no column 'sha'" "a column that is not there"
refused '{"table":"configs","hash":5.5}' "refuses" "a number for a text"
refused '{"table":"runs","id":1,"boot":1}' "out of order" "a row that stands twice"
refused '{"table":"state","id":1,"name":"0123456789abcdef"}' "second export" "two exports in one file"
refused '[1]' "no 'table'" "a document that is no row"
is "$(rows here)" "$before" "nothing of all that was imported"
: >"$TMP/empty"
here import "$TMP/empty"
is "$status" 129 "an empty file"
here import "$TMP/none"
is "$status" 128 "a file that is not there"

# a session that is not over stays where it can go on
sqlite3 "$TMP/third/culprit.db" "UPDATE sessions SET state = 'paused' WHERE id = 1" 2>/dev/null ||
	python3 -c 'import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute("UPDATE sessions SET state = '"'paused'"' WHERE id = 1"); c.commit()' "$TMP/third/culprit.db"
run culprit --state "$TMP/third" export
printf '%s\n' "$out" >"$TMP/paused"
run culprit --state "$TMP/fifth" --json import "$TMP/paused"
is "$(json '[d["sessions_added"], d["sessions_unfinished"]]')" "[1, 1]" "unfinished sessions are left out"
like "$err" "not over" "and that is said"
finish
