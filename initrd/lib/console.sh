# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Messages for a person at the machine: the same lines on the serial port, on the screen and in the kernel log, which is
# sent to the servers when a step fails.

console_devices=${console_devices-} # step inherits those of init

# Finds the devices for messages. A serial port that is no kernel console would keep 9600 baud.
console_find() {
	echo on >"$ROOT/proc/sys/kernel/printk_devkmsg" 2>/dev/null || :
	$MOCK dmesg -n 4
	console_devices=
	for console_device in ttyS0 ttyAMA0 hvc0 tty0; do
		[ -e "$ROOT/dev/$console_device" ] || continue
		grep -qs "^$console_device " "$ROOT/proc/consoles" ||
			$MOCK stty -F "$ROOT/dev/$console_device" 115200 2>/dev/null || :
		console_devices="$console_devices $ROOT/dev/$console_device"
	done
	export console_devices
}

# console_say WORDS: one line.
console_say() {
	printf '<6>sled: %s\n' "$*" >>"$ROOT/dev/kmsg" || :
	for console_device in $console_devices; do
		printf 'sled: %s\r\n' "$*" >>"$console_device" || :
	done 2>/dev/null
}

# A shell on request (sled.debug), once, while the node polls.
console_shell() {
	[ -n "$(words_argument sled.debug)" ] && [ ! -e "$ROOT/run/sled/shell" ] || return 0
	: >"$ROOT/run/sled/shell"
	console_say "sled.debug: a shell is on the console"
	# shellcheck disable=SC2094 # a terminal
	$MOCK setsid cttyhack sh <"$ROOT/dev/console" >"$ROOT/dev/console" 2>&1 &
}
