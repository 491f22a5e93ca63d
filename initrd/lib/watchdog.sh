# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A hardware watchdog guards the jump: it resets the machine if the installed system does not start far enough to stop
# it.

watchdog_chosen=$ROOT/run/sled/watchdog

# Prints the driver of a watchdog of this machine. BMCs come last: they need most from the installed kernel.
watchdog_find() {
	for watchdog_driver in iTCO_wdt sp5100_tco i6300esb ipmi_watchdog; do
		$MOCK modprobe -q "$watchdog_driver" 2>/dev/null || continue
		sledc watchdog "driver=$watchdog_driver" >/dev/null 2>&1 || continue
		echo "$watchdog_driver"
		return 0
	done
	return 1
}

# watchdog_installed_takes DRIVER: whether the installed system has it for the kernel that will start, and can stop the
# watchdog.
watchdog_installed_takes() {
	[ -n "$(sledc tree files "$disk_root" /etc/systemd/system/sled-watchdog.service)" ] || return 1
	watchdog_modules=/lib/modules/${kexec_kernel##*/vmlinuz-}
	{
		sledc tree get "$disk_root" "$watchdog_modules/modules.builtin"
		sledc tree get "$disk_root" "$watchdog_modules/modules.dep"
	} | grep "/$1\.ko" >/dev/null
}

# watchdog_choose SECONDS: chooses the watchdog, tries it, and sets $watchdog_argument for the installed system. Reports
# the result as the step's detail. The jump does not need a watchdog.
watchdog_choose() {
	watchdog_argument=
	rm -f "$watchdog_chosen"
	[ -n "$1" ] || return 0
	watchdog_driver=$(watchdog_find) || { echo "this machine has no supported watchdog" >&2; return 0; }
	if ! watchdog_installed_takes "$watchdog_driver"; then
		plan_detail "no watchdog: the installed system cannot take over $watchdog_driver"
		return 0
	fi
	if ! watchdog_took=$(sledc watchdog "driver=$watchdog_driver" "seconds=$1" state=try); then
		plan_detail "no watchdog: $watchdog_driver cannot be armed with $1 s"
		return 0
	fi
	# shellcheck disable=SC2034 # kexec.sh adds it
	watchdog_argument=" sled.watchdog=$watchdog_driver"
	echo "driver=$watchdog_driver seconds=$1" >"$watchdog_chosen"
	plan_detail "watchdog $watchdog_driver, $watchdog_took s"
}

# watchdog_switch on|off: arms or stops the chosen watchdog, at the jump.
watchdog_switch() {
	[ -s "$watchdog_chosen" ] || return 0
	# shellcheck disable=SC2046 # operands
	sledc watchdog $(cat "$watchdog_chosen") "state=$1" >/dev/null ||
		console_say "the watchdog could not be switched $1"
}
