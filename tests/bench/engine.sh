#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the search takes to decide, and to count ancestors, on histories with merges.
set -eu
cd "$(dirname "$0")/../.."
bench=${BUILD:-build}/bench/bench_engine

"$bench" decide 1024 | awk '{ printf "one decision among 1,024 commits: %.2f ms (goal 1), over %d of them\n", $1, $3 }'
"$bench" decide 100000 | awk '{
	printf "one decision among 100,000 commits: %.0f ms (goal 1000), over %d of them, peak %.0f MB (goal 300)\n", $1, $3, $2 }'
"$bench" count 245000 | awk '{ printf "ancestor counts of 245,000 commits: %.2f s (goal 2), peak %.0f MB\n", $1, $2 }'
