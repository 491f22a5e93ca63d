# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Drivers for the hardware that is there.

# One line for each thing that can make a driver or a disk appear. The DMI string may hold quotes and matches nothing
# here.
modules_hardware() {
	find "$ROOT/sys/devices" -name modalias -exec cat {} + 2>/dev/null | grep -v '^dmi:' | sort -u
	ls "$ROOT/sys/class/block" "$ROOT/sys/class/net"
}

modules_unchanged() {
	modules_now=$(modules_hardware)
	if [ "$modules_now" = "$modules_before" ]; then
		modules_quiet=$((modules_quiet + 1))
	else
		modules_quiet=0 modules_before=$modules_now
		# A driver that does not fit is no error: the hardware that matters is asked for later, by name.
		printf '%s\n' "$modules_now" | tr '\n' '\0' | xargs -0 $MOCK modprobe -a -q -b 2>/dev/null || :
	fi
	[ "$modules_quiet" -ge 3 ]
}

# Buses show new hardware while their drivers load, and disks are found in the background: it is all there when nothing
# has changed three times in a row.
modules_load() {
	modules_before='' modules_quiet=0
	$MOCK modprobe -q scsi_mod scan=sync || :
	$MOCK modprobe -q watchdog stop_on_reboot=0 || : # one that looks after a kexec runs on
	wait_for 60 "the hardware to settle" modules_unchanged || :
}
