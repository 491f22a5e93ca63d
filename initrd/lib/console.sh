# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What a person at the machine sees: the same lines on the serial port and on the screen, and in the kernel log, which is
# what the servers are sent when a step fails.

consoles=${consoles-} # step has those of init

# Finds the devices to talk to. A serial port that is no kernel console keeps a modem's 9600 baud otherwise.
find_consoles() {
	echo on >"$ROOT/proc/sys/kernel/printk_devkmsg" 2>/dev/null || :
	$MOCK dmesg -n 4
	consoles=
	for console in ttyS0 ttyAMA0 hvc0 tty0; do
		[ -e "$ROOT/dev/$console" ] || continue
		grep -qs "^$console " "$ROOT/proc/consoles" || $MOCK stty -F "$ROOT/dev/$console" 115200 2>/dev/null || :
		consoles="$consoles $ROOT/dev/$console"
	done
	export consoles
}

# say WORDS: one line.
say() {
	printf '<6>sled: %s\n' "$*" >>"$ROOT/dev/kmsg" || :
	for console in $consoles; do
		printf 'sled: %s\r\n' "$*" >>"$console" || :
	done 2>/dev/null
}

# A shell for whoever asked for it with sled.debug, beside the polling, once.
debug_shell() {
	[ -n "$(argument sled.debug)" ] && [ ! -e "$ROOT/run/sled/shell" ] || return 0
	: >"$ROOT/run/sled/shell"
	say "sled.debug: a shell is on the console"
	# shellcheck disable=SC2094 # a terminal
	$MOCK setsid cttyhack sh <"$ROOT/dev/console" >"$ROOT/dev/console" 2>&1 &
}
