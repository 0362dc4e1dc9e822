#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `culprit parse`: numbers out of a program's output, and why there is none.
. "$(dirname "$0")/lib.sh"
job=$root/tests/t/data/sort.yaml

parse() { # OUTPUT ARGUMENTS...
	printf "$1" >"$TMP/in"
	shift
	status=0
	"$culprit" parse "$@" <"$TMP/in" >"$TMP/out" 2>"$TMP/err" || status=$?
	out=$(cat "$TMP/out")
	err=$(cat "$TMP/err")
}

parse 'rate=2e6\nmisses: 7\n' "$job" --cell size=1000,clients=1 --json
is "$status" 0 "all metrics are there"
is "$(json 'd["schema_version"]')" 1 "schema"
is "$(json 'd["metrics"]')" '[{"name": "sorted", "value": 2000000.0, "unit": "keys/s"}, {"name": "per_key", "value": 500.0, "unit": "ns"}, {"name": "misses", "value": 7.0, "unit": ""}, {"name": "time", "value": 0.0005, "unit": "s"}]' \
	"names, values, units; arithmetic over metrics and parameters"
is "$(json 'd["errors"]')" '[]' "no errors"

parse 'rate=1000\n' "$job" --cell clients=50%,size=4096
is "$status" 0 "an optional metric may be absent, and parameters come in any order"
like "$out" '^sorted +1000 keys/s$' "as a table"
like "$out" '^time +4\.096 s$' "with the cell's parameters"
like "$out" '^misses +absent' "absence is said"

is "$err" "" "and nothing is said where all is well"
parse 'rate=1000\n' "$job" --json
is "$status" 1 "without a cell, what needs its parameters has no value"
is "$(json 'd["job"], d["cell"]')" "('sort', None)" "the document names the job"
is "$(json '[m["name"] for m in d["metrics"]]')" '["sorted", "per_key"]' "the others have"
is "$(json 'd["errors"]')" "[{\"metric\": \"time\", \"why\": \"cannot be derived: 'size' has no value\"}]" "and why"

bad() { # OUTPUT WHY TEXT
	parse "$1" "$job" --cell size=1000,clients=1 --json
	is "$status" 1 "$3: exit status"
	like "$(json 'd["errors"][0]["why"]')" "$2" "$3: why"
	is "$(json 'len([m for m in d["metrics"] if m["name"] == "sorted"])')" 0 "$3: no value"
	like "$err" "job 'sort', cell 'size=1000,clients=1', metric 'sorted': .*$2" "$3: job, cell and metric are named"
}
bad '' 'does not match, the output is empty' "no output"
bad 'error: cannot connect\n' 'does not match' "an error text"
bad 'rate=1,234\n' 'thousands' "separator of thousands"
bad 'rate=12,5\n' 'comma' "a locale's comma"
bad 'rate=12.\n' 'not one whole number' "a number that is cut"
bad 'rate=1\nrate=2\n' 'two results where one is expected' "two results"
bad 'rate=nan\n' 'does not match' "not a number"
bad 'rate=1.234.567\n' 'only a part|not one whole number' "points between thousands"
bad "rate=1'234\n" 'thousands' "apostrophes between thousands"
bad 'keys 100\nrate=' 'does not match' "an output that was cut off by a kill"
bad 'rate=1e999\n' 'too large' "an exponent beyond all numbers"
bad 'rate=\377\376\n' 'does not match' "bytes that are no text"
bad '\033[31mrate=1\033[0m\n\033[1mrate=2\033[0m' 'two results where one is expected: 1 and 2' "two in colours"
parse 'rate=1\nmisses: inf\n' "$job" --cell size=1000,clients=1 --json
is "$(json 'd["errors"]')" "[{\"metric\": \"misses\", \"why\": \"'inf' is not a finite number\"}]" \
	"what an optional metric does print must be a number"
parse '\033[1mrate=\033[32m5\033[0m\r\n\377\376' "$job" --cell size=1000,clients=1 --json
is "$(json 'd["metrics"][0]["value"]')" 5.0 "colours and bytes that are no text do no harm"

parse 'rate=1\n' "$job" --cell size=7
is "$status" 129 "no such cell"
like "$err" "'size=7' is not one cell" "and says so"
parse 'rate=1\n' "$job" --cell size=1000
is "$status" 129 "several cells"
parse 'rate=1\n' "$TMP/nowhere.yaml" --json
is "$status" 128 "no such job"
is "$(json 'd["error"]["code"]')" not-found "as a document"

(head -c 100000000 /dev/zero | tr '\0' '\n'; echo rate=5) | "$culprit" parse "$job" --cell size=1000,clients=1 >"$TMP/out"
like "$(cat "$TMP/out")" '^sorted +5 ' "100 MB of output"
finish
