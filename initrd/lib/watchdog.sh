# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A hardware watchdog looks after the jump: it resets the machine when the installed kernel does not come to where it stops it.

watched=$ROOT/run/sled/watchdog

# Prints the driver of a watchdog that this machine has. BMCs last: they need most of the kernel that comes.
find_watchdog() {
	for driver in iTCO_wdt sp5100_tco i6300esb ipmi_watchdog; do
		$MOCK modprobe -q "$driver" 2>/dev/null || continue
		sledc watchdog "driver=$driver" >/dev/null 2>&1 || continue
		echo "$driver"
		return 0
	done
	return 1
}

# installed_takes DRIVER: the installed system holds it for the kernel that is to start, and knows how to stop the watchdog.
installed_takes() {
	[ -e "$root/etc/systemd/system/sled-watchdog.service" ] || return 1
	modules=$root/lib/modules/${kernel##*/vmlinuz-}
	[ -d "$modules" ] || return 1
	grep -q -s "/$1\.ko$" "$modules/modules.builtin" || [ -n "$(find "$modules" -name "$1.ko*")" ]
}

# watch SECONDS: chooses the watchdog, tries it, and lets the installed system know. Says what is done with one as the step's detail; none is
# no reason not to jump.
watch() {
	rm -f "$watched"
	[ -n "$1" ] || return 0
	driver=$(find_watchdog) || { echo "this machine has no watchdog that is known" >&2; return 0; }
	installed_takes "$driver" || { detail "no watchdog: the installed system would not take over $driver"; return 0; }
	took=$(sledc watchdog "driver=$driver" "seconds=$1" state=try) || { detail "no watchdog: $driver cannot be armed with $1 s"; return 0; }
	arguments="$arguments sled.watchdog=$driver"
	echo "driver=$driver seconds=$1" >"$watched"
	detail "watchdog $driver, $took s"
}

# arm on|off: what watch has chosen, at the jump.
arm() {
	[ -s "$watched" ] || return 0
	# shellcheck disable=SC2046 # operands
	sledc watchdog $(cat "$watched") "state=$1" >/dev/null || say "the watchdog could not be switched $1"
}
