# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Waits for a condition.

wait_seconds_up() {
	read -r wait_up _ <"$ROOT/proc/uptime"
	echo "${wait_up%%.*}"
}

# wait_for SECONDS WHAT COMMAND...: returns as soon as COMMAND is true; returns 1 after the timeout, and prints WHAT.
wait_for() {
	wait_limit=$1 wait_what=$2
	shift 2
	wait_end=$(($(wait_seconds_up) + wait_limit))
	until "$@"; do
		if [ "$(wait_seconds_up)" -ge "$wait_end" ]; then
			console_say "waited $wait_limit s for $wait_what"
			return 1
		fi
		$MOCK sleep 0.2
	done
}

# wait_by_chance SECONDS: a random part of them, so that machines that failed together do not return together.
wait_by_chance() {
	wait_length=$1
	if [ -r "$ROOT/proc/sys/kernel/random/uuid" ]; then
		read -r wait_random <"$ROOT/proc/sys/kernel/random/uuid"
		wait_length=$((0x${wait_random%%-*} % ($1 * 1000)))
		wait_length=$(printf '%d.%03d' $((wait_length / 1000)) $((wait_length % 1000)))
	fi
	$MOCK sleep "$wait_length"
}
