# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Loads drivers for the hardware.

# One line per device for which a driver or a disk may still appear. The DMI string may contain quotes, and no driver
# here matches it.
modules_hardware() {
	find "$ROOT/sys/devices" -name modalias -exec cat {} + 2>/dev/null | grep -v '^dmi:' | sort -u
	ls "$ROOT/sys/class/block" "$ROOT/sys/class/net"
}

# Reads all of sysfs only if the kernel has sent an event since the last time: it sends one for each new device. An
# event that brings no new hardware, such as that of a loaded module, is no change.
modules_unchanged() {
	read -r modules_events <"$ROOT/sys/kernel/uevent_seqnum"
	modules_quiet=$((modules_quiet + 1))
	[ "$modules_events" != "$modules_seen" ] || { [ "$modules_quiet" -ge 3 ]; return; }
	modules_seen=$modules_events modules_now=$(modules_hardware)
	if [ "$modules_now" != "$modules_before" ]; then
		modules_quiet=0 modules_before=$modules_now
		# A driver that does not fit is no error: required hardware is checked later, by name.
		printf '%s\n' "$modules_now" | tr '\n' '\0' | xargs -0 $MOCK modprobe -a -q -b 2>/dev/null || :
	fi
	[ "$modules_quiet" -ge 3 ]
}

# Buses report new hardware while their drivers load, and disks are found in the background: it is complete when three
# passes in a row find nothing new. init gets the network meanwhile: a switch or a disk shelf may take half a minute.
modules_load() {
	modules_before='' modules_seen='' modules_quiet=0
	$MOCK modprobe -q scsi_mod scan=sync || :
	$MOCK modprobe -q watchdog stop_on_reboot=0 || : # one that guards a kexec keeps running
	wait_for 60 "the hardware to settle" modules_unchanged || :
}
