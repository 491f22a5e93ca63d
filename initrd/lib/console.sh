# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What a person at the machine sees: the same lines on the serial port, on the screen and in the kernel log, which is
# what the servers are sent when a step fails.

console_devices=${console_devices-} # step has those of init

# Finds the devices to talk to. A serial port that is no kernel console keeps a modem's 9600 baud otherwise.
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

# A shell for whoever asked for it with sled.debug, beside the polling, once.
console_shell() {
	[ -n "$(words_argument sled.debug)" ] && [ ! -e "$ROOT/run/sled/shell" ] || return 0
	: >"$ROOT/run/sled/shell"
	console_say "sled.debug: a shell is on the console"
	# shellcheck disable=SC2094 # a terminal
	$MOCK setsid cttyhack sh <"$ROOT/dev/console" >"$ROOT/dev/console" 2>&1 &
}
