# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Kernel arguments, operands, and waiting for a fact.

# argument NAME: prints its value; "1" for one without a value; nothing when it is not there.
argument() (
	set -f
	# shellcheck disable=SC2013 # words, not lines
	for word in $(cat "$ROOT/proc/cmdline"); do
		case $word in
		"$1="*) echo "${word#*=}" ;;
		"$1") echo 1 ;;
		esac
	done | head -n 1
)

# pick KEYS WORD...: those operands whose key is among KEYS, as they are.
pick() (
	keys=$1
	shift
	for word; do
		case " $keys " in *" ${word%%=*} "*) printf '%s ' "$word" ;; esac
	done
)

# value KEY VERB OPERAND...: prints the decoded value; nothing when there is no such operand.
value() { sledc operand "$@" || [ $? = 1 ]; }

# detail TEXT: for the log, and for who reads the events of the node. Of steps that keep their standard output to themselves.
detail() {
	echo "$1"
	echo "detail $1" >&3
}

seconds_up() {
	read -r up _ <"$ROOT/proc/uptime"
	echo "${up%%.*}"
}

# wait_for SECONDS WHAT COMMAND...: true as soon as COMMAND is; 1 when the time is up, and says what it waited for.
wait_for() {
	limit=$1 what=$2
	shift 2
	end=$(($(seconds_up) + limit))
	until "$@"; do
		if [ "$(seconds_up)" -ge "$end" ]; then
			say "waited $limit s for $what"
			return 1
		fi
		$MOCK sleep 0.2
	done
}
