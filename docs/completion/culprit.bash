# SPDX-License-Identifier: GPL-2.0-or-later
# Completion of culprit for bash: asks the program, so that it knows what the program knows.

_culprit_options() {
	culprit help "$1" 2>/dev/null | sed -n 's/^  .\{4\}\(--[a-z-]*\).*/\1/p'
}

_culprit() {
	local cur=${COMP_WORDS[COMP_CWORD]} verb= i

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--state | --cache | --repo) i=$((i + 1)) ;;
		-*) ;;
		*) verb=${COMP_WORDS[i]} && break ;;
		esac
	done
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_culprit_options "${verb:-status}")" -- "$cur")
	elif [[ -z $verb || $verb == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(culprit help 2>/dev/null | sed -n 's/^  \([a-z-]*\) .*/\1/p')" -- "$cur")
	elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == --format ]]; then
		mapfile -t COMPREPLY < <(compgen -W "text json lkp mmtests" -- "$cur")
	elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == "$verb" && $verb =~ ^(check|parse|run|compare|bisect|test)$ ]]; then
		mapfile -t COMPREPLY < <(compgen -f -W "$(culprit jobs 2>/dev/null | awk '{ print $1 }')" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}

complete -o filenames -F _culprit culprit
