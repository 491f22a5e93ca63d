# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Kernel arguments and operands.

# words_argument NAME: prints the value of the kernel argument; "1" if it has no value; nothing if it is missing.
words_argument() (
	set -f
	# shellcheck disable=SC2013 # words, not lines
	for words_word in $(cat "$ROOT/proc/cmdline"); do
		case $words_word in
		"$1="*) echo "${words_word#*=}" ;;
		"$1") echo 1 ;;
		esac
	done | head -n 1
)

# words_pick KEYS WORD...: prints the operands whose key is among KEYS, unchanged.
words_pick() (
	words_keys=$1
	shift
	for words_word; do
		case " $words_keys " in *" ${words_word%%=*} "*) printf '%s ' "$words_word" ;; esac
	done
)

# words_value KEY VERB OPERAND...: prints the decoded value; nothing if there is no such operand.
words_value() { sledc operand "$@" || [ $? = 1 ]; }
