# SPDX-License-Identifier: GPL-2.0-or-later
# For tests through the binary: TAP, a HOME, state and temporary directory of each test's own.
#
#	. "$(dirname "$0")/lib.sh"
#	run culprit check job.yaml		# sets $status, $out, $err
#	is "$status" 129 "a wrong key is a usage error"
#	like "$err" "line 3" "and names the line"
#	finish
set -u
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$root/${BUILD:-build}
culprit=$BUILD/culprit
TMP=$(mktemp -d "${TMPDIR:-/tmp}/culprit-test.XXXXXX")
export HOME=$TMP/home XDG_STATE_HOME=$TMP/state XDG_CONFIG_HOME=$TMP/config
# kernels are built once for all tests where the caller names a cache
export XDG_CACHE_HOME=${CULPRIT_TEST_CACHE:-$TMP/cache}
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=Tester GIT_AUTHOR_EMAIL=tester@example.invalid
export GIT_COMMITTER_NAME=Tester GIT_COMMITTER_EMAIL=tester@example.invalid
unset CULPRIT_NOW CULPRIT_JOBS MAKEFLAGS MAKELEVEL NO_COLOR 2>/dev/null || true
mkdir -p "$HOME"
tests=0
failures=0

cleanup() {
	[ -n "${KEEP_TMP:-}" ] && echo "# kept $TMP" && return
	rm -rf "$TMP"
}
trap cleanup EXIT

run() {
	[ "$1" = culprit ] && shift && set -- "$culprit" "$@"
	status=0
	"$@" >"$TMP/out" 2>"$TMP/err" </dev/null || status=$?
	out=$(tr -d '\0' <"$TMP/out")
	err=$(tr -d '\0' <"$TMP/err")
}

await() { # COMMAND...: until it succeeds, for some ten seconds at most; fails if it never did
	local _

	for _ in $(seq 1 200); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.05
	done
	return 1
}

is_running() { # some session is worked on
	"$culprit" status 2>/dev/null | grep -q running
}

ok() { # CONDITION-STATUS TEXT
	tests=$((tests + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tests - $2"
	else
		failures=$((failures + 1))
		echo "not ok $tests - $2"
		return 1
	fi
}

is() { # GOT WANT TEXT
	[ "$1" = "$2" ]
	ok $? "$3" || printf '%s\n' "got:  $1" "want: $2" "stderr: ${err:-}" | sed 's/^/# /'
}

like() { # TEXT-WITH PATTERN TEXT
	printf '%s\n' "$1" | grep -Eq -- "$2"
	ok $? "$3" || printf '%s\n' "text: $1" "does not match: $2" "stderr: ${err:-}" | sed 's/^/# /'
}

unlike() { # TEXT-WITH PATTERN TEXT
	! printf '%s\n' "$1" | grep -Eq -- "$2"
	ok $? "$3" || printf '%s\n' "text: $1" "matches: $2" | sed 's/^/# /'
}

# json EXPRESSION: evaluates a Python expression over the document d in $out
json() {
	printf '%s' "$out" | python3 -c 'import json,sys
try:
    d = json.load(sys.stdin)
except ValueError:
    sys.exit("no JSON document")
v = eval(sys.argv[1])
print(json.dumps(v) if isinstance(v, (dict, list, bool, type(None))) else v)' "$1"
}

skip() { # WHY: one test that this machine cannot do
	tests=$((tests + 1))
	echo "ok $tests # SKIP $1"
}

skip_all() { # WHY
	echo "1..0 # SKIP $1"
	exit 0
}

finish() {
	echo "1..$tests"
	[ "$failures" = 0 ]
	exit $?
}
