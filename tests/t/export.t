#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `export` for other programs: results and samples as CSV and JSON lines, KCIDB. The schema in
# tests/data/kcidb-5.json is written from what KCIDB's I/O schema 5.3 says of its fields; kcidb-io itself is
# in no Debian package.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/project.sh"

make_project "$TMP/p" 4 2 3
cat >"$TMP/job.yaml" <<'YAML'
culprit: 1
name: speed
runner: local
build: {command: make -s, timeout: 1m}
parameters: {mode: ['=1+1', plain]}
run: {command: 'test $((CULPRIT_BOOT * 2 + CULPRIT_RUN)) != 7 || exit 3; ./bench.sh', timeout: 20s}
metrics:
  rate: {unit: '=ops, "fast"', better: higher, pattern: 'rate=([0-9.]+)', kpi: true}
boots: {min: 3, max: 3}
iterate: {min: 2, max: 2}
YAML
run culprit --repo "$TMP/p" --no-progress compare "$TMP/job.yaml" old=good bad
run culprit --repo "$TMP/p" --no-progress run "$TMP/job.yaml" good
run culprit void boot 2 --why "the door was open"

table() { # EXPRESSION over rows, a list of dicts read by a CSV reader
	python3 - "$TMP/out" "$1" <<-'PY'
		import csv, sys, json
		rows = list(csv.DictReader(open(sys.argv[1], newline=""), strict=True))
		v = eval(sys.argv[2])
		print(json.dumps(v) if isinstance(v, (list, dict, bool)) else v)
	PY
}
run culprit export --csv samples 1
is "$status" 0 "samples as CSV"
is "$(tr -cd '\r' <"$TMP/out" | wc -c)" "$(wc -l <"$TMP/out")" "lines end as RFC 4180 wants"
is "$(head -n 1 "$TMP/out" | tr -d '\r')" \
	"session,kind,job,machine,boot,started,side,purpose,commit,variant,cell,metric,unit,better,kpi,run,value" "with a header"
is "$(table 'len(rows)')" 18 "a row for each value: 6 boots of 2 cells and 2 runs, one voided, one with 2 failed runs"
is "$(table 'sorted({r["unit"] for r in rows})')" '["'"'"'=ops, \"fast\""]' "quotes and commas survive, and what begins like a formula is none"
is "$(table 'sorted({r["side"] for r in rows})')" '["bad", "old"]' "sides are told"
is "$(table 'all(850 < float(r["value"]) < 1100 for r in rows)')" true "values are numbers"
is "$(table '"2" in {r["boot"] for r in rows}')" false "a voided boot is left out"
run culprit export --csv results 1
is "$(table '[len(rows), sorted({r["runs"] for r in rows}), sorted({r["centre"] for r in rows})]')" \
	'[10, ["1", "2"], ["median"]]' "results: a row a boot and cell"
run culprit export --lines results
is "$(python3 -c 'import json,sys; r = [json.loads(l) for l in open(sys.argv[1])]; print(len(r), r[0]["unit"], sorted({x["session"] for x in r}))' "$TMP/out")" \
	"$(sqlite3 "$XDG_STATE_HOME/culprit/culprit.db" "SELECT count(*) FROM (SELECT DISTINCT b.id, r.cell FROM boots b JOIN runs r ON r.boot = b.id WHERE r.status = 'ok' AND b.void_why IS NULL)") =ops, \"fast\" [1, 2]" \
	"as JSON lines texts stay as they are, and all sessions are there"
run culprit export --csv boats
is "$status" 129 "neither results nor samples"
run culprit export --csv results --kcidb
is "$status" 129 "one document at a time"
run culprit export 1
is "$status" 129 "the database is exported as a whole"
run culprit export --csv results 99
is "$status" 128 "a session that is not there"

# KCIDB
run culprit --repo "$TMP/p" --no-progress run "$TMP/job.yaml" bad~1 # does not build
run culprit export --kcidb --origin mylab
is "$status" 0 "KCIDB"
is "$(json 'd["version"]["major"]')" 5 "of major version 5"
run_schema() { python3 - "$root/tests/data/kcidb-5.json" "$TMP/out" <<-'PY'
	import json, sys
	try:
	    import jsonschema
	except ImportError:
	    sys.exit(77)
	schema, document = (json.load(open(p)) for p in sys.argv[1:])
	jsonschema.Draft7Validator.check_schema(schema)
	for e in jsonschema.Draft7Validator(schema).iter_errors(document):
	    print(list(e.absolute_path), e.message[:200])
	broken = dict(document, tests=[dict(document["tests"][0], status="GOOD")])
	assert not jsonschema.Draft7Validator(schema).is_valid(broken), "the schema refuses nothing"
	PY
}
schema=$(run_schema 2>&1)
case $? in
77) skip "python3-jsonschema is not installed" ;;
*) is "$schema" "" "the document is valid by its schema" ;;
esac
is "$(json 'sorted({t["status"] for t in d["tests"]})')" '["DONE", "ERROR"]' "samples are DONE, runs that failed ERROR"
is "$(json 'sum(t["status"] == "ERROR" and t["misc"]["session"] == 1 for t in d["tests"])')" 2 "each of them once"
like "$(json '[t["log_excerpt"] for t in d["tests"] if t["status"] == "ERROR"][0]')" "exited with 3" "with why"
is "$(json 'len({t["id"] for t in d["tests"]}) == len(d["tests"])')" true "ids are unique"
is "$(json '{t["build_id"] for t in d["tests"]} <= {b["id"] for b in d["builds"]}')" true "every test has its build"
is "$(json '{b["checkout_id"] for b in d["builds"]} <= {c["id"] for c in d["checkouts"]}')" true "and every build its checkout"
is "$(json 'all(t["id"].startswith("mylab:") and t["origin"] == "mylab" for t in d["tests"])')" true "by the origin that was named"
is "$(json '[t["number"]["unit"] for t in d["tests"] if "number" in t][0]')" '=ops, "fast"' "values have their unit"
is "$(json '{t["path"] for t in d["tests"] if "number" in t} == {"speed.mode__1_1.rate", "speed.mode_plain.rate"}')" true "and a path of job, cell and metric"
run culprit export --kcidb --origin 'My Lab'
is "$status" 129 "an origin that KCIDB would refuse"
sqlite3 "$XDG_STATE_HOME/culprit/culprit.db" "UPDATE boots SET status = 'infra', message = 'no power' WHERE id = 3;
	DELETE FROM outputs WHERE run IN (SELECT id FROM runs WHERE boot = 3);
	DELETE FROM samples WHERE run IN (SELECT id FROM runs WHERE boot = 3); DELETE FROM runs WHERE boot = 3"
run culprit export --kcidb 1
is "$(json '[(t["status"], t["log_excerpt"], t["path"]) for t in d["tests"] if t["misc"]["boot"] == 3]')" \
	'[["MISS", "no power", "speed"]]' "a boot that the lab broke is a MISS"
finish
