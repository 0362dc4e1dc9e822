#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The manual: a page of each verb with every option of its help, the keys of both files, completion.
. "$(dirname "$0")/lib.sh"

command -v scdoc >/dev/null || skip_all "scdoc is not installed"

"$root/docs/man/generate" "$culprit" "$TMP/man" >"$TMP/log" 2>&1
is "$?" 0 "all pages are made: $(tail -1 "$TMP/log")"
plain() { # PAGE
	MANWIDTH=100 man -l "$TMP/man/$1" 2>/dev/null | col -b
}
verbs=$("$culprit" help | sed -n 's/^  \([a-z]*\) .*/\1/p')
missing=
for verb in $verbs; do
	text=$(plain "culprit-$verb.1")
	[ -n "$text" ] || missing="$missing $verb"
	for option in $("$culprit" help "$verb" | awk '/^Everywhere/ { exit } { for (i = 1; i < 3; i++) if ($i ~ /^--/) print $i }'); do
		case $text in *"$option"*) ;; *) missing="$missing $verb:$option" ;; esac
	done
done
is "$missing" "" "a page of each verb with each option"
pages=$(plain culprit.1)
for verb in $verbs; do
	case $pages in *"culprit-$verb(1)"*) ;; *) missing="$missing $verb" ;; esac
done
is "$missing" "" "culprit(1) lists them all"
for key in $("$culprit" help job-file | sed -n 's/^\([a-z][^ :]*\): .*/\1/p'); do
	plain culprit-job-file.5 | grep -qF "$key" || missing="$missing $key"
done
is "$missing" "" "every key of a job file"
like "$(plain culprit-config.5)" 'mail\.per_day: .*default 5' "every key of the settings has its default"
like "$(plain culprit-compare.1)" '\[NAME=\]REV\[\+FILE\.\.\.\]\[-COMMIT\.\.\.\]' "markup in a text survives"
is "$(grep -l '@' "$root"/docs/man/*.scd | xargs -n1 basename | sort | tr '\n' ' ')" \
	"culprit-config.5.scd culprit-job-file.5.scd culprit.1.scd " "placeholders are where tables belong"
unlike "$(cat "$TMP"/man/*)" '@keys|@verbs' "and all of them were filled"

complete_words() { # WORD...: what the last one may become
	PATH=$BUILD:$PATH bash -c '. "$0" && COMP_WORDS=("$@") && COMP_CWORD=$(($# - 1)) && _culprit && printf "%s\n" "${COMPREPLY[@]}"' \
		"$root/docs/completion/culprit.bash" "$@"
}
is "$(complete_words culprit bis)" bisect "a verb"
is "$(complete_words culprit --state /tmp hist)" history "behind an option with a value"
is "$(complete_words culprit mail 1 --reg)" --regzbot "an option of that verb"
is "$(complete_words culprit report 1 --format m)" mmtests "a format"
finish
