# SPDX-License-Identifier: GPL-2.0-or-later
# A small git project whose speed is read from a file in it, for tests of whole searches: the level of a
# commit is what its file says, plus noise from its own boot number, so results can be repeated.
#
#	make_project DIR COMMITS CULPRIT	# linear; speed falls by a tenth at commit CULPRIT (from 1)
#	write_job FILE				# a job that measures it
#
# With $culprit_message set to a file, the culprit's commit has that message and the author $culprit_author.

make_project() {
	local dir=$1 commits=$2 culprit_at=$3 broken=${4:-0}

	git init -q "$dir"
	(
		cd "$dir" || exit 1
		cat >bench.sh <<-'SH'
			#!/bin/sh
			# level of this commit, and noise of about half a percent from the boot and run numbers
			awk -v l="$(cat level)" -v b="$CULPRIT_BOOT" -v r="$CULPRIT_RUN" 'BEGIN {
				srand(b * 1000 + r); s = 0
				for (i = 0; i < 12; i++) s += rand()
				printf "rate=%.3f\n", l * (1 + 0.005 * (s - 6)) }'
		SH
		chmod +x bench.sh
		printf 'all:\n\ttest ! -e broken\n\ttouch built\n' >Makefile
		echo 1000 >level
		git add . && git commit -qm "base"
		git tag good
		for i in $(seq 1 "$commits"); do
			echo "$i" >"file$i"
			[ "$i" = "$culprit_at" ] && echo 900 >level
			if [ "$i" = "$broken" ]; then touch broken; else rm -f broken; fi
			git add -A .
			if [ "$i" = "$culprit_at" ] && [ -n "${culprit_message:-}" ]; then
				GIT_AUTHOR_NAME=$culprit_author git commit -q --cleanup=verbatim -F "$culprit_message"
			else
				git commit -qm "change $i"
			fi
		done
		git tag bad
	)
}

write_job() {
	cat >"$1" <<-'YAML'
		culprit: 1
		name: speed
		description: reads its speed from a file
		runner: local
		build: {command: make -s, timeout: 1m}
		run: {command: ./bench.sh, timeout: 20s}
		metrics:
		  rate: {unit: ops/s, better: higher, pattern: 'rate=([0-9.]+)', kpi: true}
		boots: {min: 4, max: 40}
		iterate: {min: 1, max: 1}
		regression: {min_effect: 2%, error: 1%}
	YAML
}
