#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Storing 1,000,000 samples against the sqlite3 shell importing the same rows into the same tables,
# both in one transaction; the same as sessions do it, run by run; and reading one comparison
# (40,000 samples) out of them.
set -eu
cd "$(dirname "$0")/../.."
bench=${BUILD:-build}/bench/bench_db
dir=$(mktemp -d "${TMPDIR:-/tmp}/culprit-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT

"$bench" csv "$dir"
ours=$("$bench" insert "$dir/ours")
each=$("$bench" runs "$dir/each")

# The shell gets the rows that runs refer to as well, and all of its work in one transaction.
sqlite3 "$dir/shell.db" <"db/schema.sql"
sqlite3 "$dir/ours/culprit.db" ".dump sessions boots metrics" | grep '^INSERT' |
	sqlite3 "$dir/shell.db" "PRAGMA journal_mode=WAL" ".read /dev/stdin" >/dev/null
start=$(date +%s.%N)
sqlite3 "$dir/shell.db" >/dev/null <<SQL
PRAGMA synchronous=NORMAL;
PRAGMA foreign_keys=ON;
BEGIN;
.mode csv
.import $dir/runs.csv runs
.import $dir/samples.csv samples
COMMIT;
SQL
shell=$(echo "$(date +%s.%N) $start" | awk '{print $1 - $2}')

rows() {
	sqlite3 "$1" "SELECT count(*), sum(value), (SELECT count(*) FROM runs) FROM samples"
}
[ "$(rows "$dir/ours/culprit.db")" = "$(rows "$dir/shell.db")" ] || {
	echo "the two databases differ" >&2
	exit 1
}
echo "$ours $each $shell" | awk '{
	printf "store 1,000,000 samples at once: %.2f s, sqlite3 shell %.2f s: ", $1, $3
	printf "%.2f of its speed (goal: 0.5)\n", $3 / $1
	printf "run by run, 20,000 transactions: %.2f s, %.2f of its speed\n", $2, $3 / $2 }'
echo "read one comparison of them: $("$bench" read "$dir/ours") ms (goal: 50)"
