#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# olddefconfig for bool options: what is asked for if all it depends on is on, else the default.
awk '
FILENAME == ARGV[1] {
	if ($1 == "if") outer = $2
	if ($1 == "endif") outer = ""
	if ($0 ~ /^config /) { name = $2; order[++n] = name; need[name] = outer }
	if ($0 ~ /^\tdepends on /) need[name] = need[name] " " $3
	if ($0 ~ /^\tdefault y/) value[name] = "y"
	next
}
/^CONFIG_[A-Z0-9_]+=/ { split(substr($0, 8), pair, "="); value[pair[1]] = pair[2] }
/^# CONFIG_[A-Z0-9_]+ is not set/ { value[substr($2, 8)] = "n" }
END {
	print "# A kernel in miniature"
	for (i = 1; i <= n; i++) {
		m = split(need[order[i]], parts, " ")
		for (j = 1; j <= m; j++) if (value[parts[j]] != "y") value[order[i]] = "n"
		if (value[order[i]] == "y") print "CONFIG_" order[i] "=y"
		else print "# CONFIG_" order[i] " is not set"
	}
}' "$1" "$2" > "$2.tmp" && mv "$2.tmp" "$2"
