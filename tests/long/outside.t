#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Bisections of made-up repositories, told and counted from outside: what a commit costs stands
# in no file that culprit sees, and every build, boot and run leaves a line in a log of the test's own.
# A step of two sigma between boots, a tenth of the commits does not build, half of the histories have
# merges.
. "$(dirname "$0")/../t/lib.sh"

commits=24
cat >"$TMP/history.py" <<'PY'
import random, subprocess, sys

out, seed, commits, merges = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "merges"
rng = random.Random(seed)
parents, line = {}, [0]			# 0 is good; a branch of two now and then, merged by the third
n = 0
while n < commits:
    if merges and n + 4 < commits and rng.random() < 0.25:
        fork = rng.choice(line[-4:])
        for _ in range(2):
            n += 1
            parents[n] = [fork]
            fork = n
        n += 1
        parents[n] = [line[-1], fork]
    else:
        n += 1
        parents[n] = [line[-1]]
    line.append(n)
culprit = rng.randint(1, n)
bad = {culprit}
for c in range(1, n + 1):
    if bad & set(parents[c]):
        bad.add(c)
# the ends build, and the culprit is one that reaches bad: every commit of this history does
broken = {c for c in range(1, n) if rng.random() < 0.1}
stream = []
for c in range(n + 1):
    stream.append("commit refs/heads/master\nmark :%d\ncommitter T <t@example.invalid> %d +0000\n" % (c + 1, 1600000000 + seed * 1000 + c))
    text = "change %d" % c
    stream.append("data %d\n%s\n" % (len(text), text))
    if c:
        stream.append("from :%d\n" % (parents[c][0] + 1))
        for p in parents[c][1:]:
            stream.append("merge :%d\n" % (p + 1))
    name = "file%d" % c
    stream.append("M 644 inline %s\ndata %d\n%s\n" % (name, len(text), text))
subprocess.run(["git", "init", "-q", out], check=True)
subprocess.run(["git", "-C", out, "fast-import", "--quiet", "--export-marks=" + out + "/.git/marks"],
               input="".join(stream).encode(), check=True)
sha = dict(l[1:].split() for l in open(out + "/.git/marks"))
sha = {int(k) - 1: v for k, v in sha.items()}
with open(sys.argv[5], "w") as f:
    for c in range(n + 1):
        f.write("%s %s %d\n" % (sha[c], "broken" if c in broken else "builds", 1020 if c in bad else 1000))
print(sha[0], sha[n], sha[culprit])
PY

# what the job calls: scripts beside the repository, not in it
write_outside() { # DIR SEED
	cat >"$1/build" <<-SH
		#!/bin/sh
		echo "\$CULPRIT_COMMIT" >>$1/builds
		grep -q "^\$CULPRIT_COMMIT builds" $1/levels
	SH
	cat >"$1/boot" <<-SH
		#!/bin/sh
		echo "\$CULPRIT_COMMIT" >>$1/boots
	SH
	cat >"$1/bench" <<-SH
		#!/bin/sh
		echo "\$CULPRIT_COMMIT" >>$1/runs
		awk -v commit="\$CULPRIT_COMMIT" -v boot="\$CULPRIT_BOOT" -v run="\$CULPRIT_RUN" '
			function normal(   i, s) { s = -6; for (i = 0; i < 12; i++) s += rand(); return s }
			\$1 == commit { level = \$3 }
			END {
				srand($2 * 7919 + boot); noise = 10 * normal()
				srand($2 * 104729 + boot * 31 + run); noise += normal()
				printf "usec=%.3f\n", level + noise
			}' $1/levels
	SH
	chmod +x "$1/build" "$1/boot" "$1/bench"
	touch "$1/builds" "$1/boots" "$1/runs"
	cat >"$1/job.yaml" <<-YAML
		culprit: 1
		name: outside
		description: costs what a file outside of the repository says
		runner: local
		build: {command: '$1/build', timeout: 20s}
		setup: {command: '$1/boot'}
		run: {command: '$1/bench', timeout: 20s}
		metrics:
		  time: {unit: us, better: lower, pattern: 'usec=([0-9.]+)', kpi: true}
		boots: {min: 3, max: 60}
		iterate: {min: 1, max: 3}
		regression: {min_effect: 0.5%, error: 1%}
	YAML
}

histories=20
right=0 in_set=0 wrong=0 miscounted=0 boots=0
for seed in $(seq 1 $histories); do
	outside=$TMP/o$seed
	mkdir "$outside"
	write_outside "$outside" "$seed"
	shape=linear
	[ $((seed % 2)) = 0 ] && shape=merges
	read -r good bad truth < <(python3 "$TMP/history.py" "$TMP/r$seed" "$seed" $commits $shape "$outside/levels")
	run culprit --state "$TMP/s$seed" --repo "$TMP/r$seed" --json --no-progress \
		bisect "$outside/job.yaml" --good "$good" --bad "$bad"
	named=$(json 'd["culprits"]')
	case $named in
	"[\"$truth\"]")	right=$((right + 1)) in_set=$((in_set + 1)) ;;
	'[]')		[ "$(json "'$truth' in [c['commit'] for c in d['candidates']]")" = true ] && in_set=$((in_set + 1)) ;;
	*)		wrong=$((wrong + 1)) ;;
	esac
	counted=$(wc -l <"$outside/builds"),$(wc -l <"$outside/boots"),$(wc -l <"$outside/runs")
	told=$(json '"%d,%d,%d" % (d["cost"]["builds"], d["cost"]["boots"], d["cost"]["runs"])')
	if [ "$counted" != "$told" ]; then
		miscounted=$((miscounted + 1))
		echo "# history $seed: builds, boots, runs: $counted outside, told $told"
	fi
	boots=$((boots + $(wc -l <"$outside/boots")))
	echo "# history $seed ($shape): $(json 'd["outcome"]'), $counted${named:+, named $named}, truth $truth"
done
is "$wrong" 0 "no commit is named wrongly"
is "$in_set" $histories "the culprit is named or in the reported set every time"
is "$miscounted" 0 "builds, boots and runs are those counted from outside"
ok "$([ "$right" -ge $((histories * 7 / 10)) ]; echo $?)" "in most it is named (in $right of $histories, with $boots boots together)"
finish
