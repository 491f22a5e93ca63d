#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every plan of the contract, and the exit codes of a command line.
set -eu
status=0
check() { # check WANTED NAME COMMAND...: exit code
	wanted=$1 name=$2
	shift 2
	got=0
	"$@" > "$TMPDIR/out" 2>&1 || got=$?
	if [ "$got" = "$wanted" ]; then
		echo "ok - $name"
	else
		echo "not ok - $name: exit $got, not $wanted"
		cat "$TMPDIR/out"
		status=1
	fi
}

truncate -s 1M "$TMPDIR/disk"
for plan in "$SLED_CASES"/plan/ok/*; do check 0 "$plan" "$SLEDC" check-plan "$plan"; done
for plan in "$SLED_CASES"/plan/bad/*; do
	check 2 "$plan" "$SLEDC" check-plan "$plan"
	grep -q '^check-plan: line [0-9]' "$TMPDIR/out" || { echo "not ok - $plan: names no line"; status=1; }
done
check 2 "no verb" "$SLEDC"
check 2 "unknown verb" "$SLEDC" erase
check 2 "unknown key" "$SLEDC" wipe disks=only force=1
check 2 "device name" "$SLEDC" wipe disks=/dev/sda
check 2 "no disk" "$SLEDC" wipe
check 2 "a method that is not one of the level" "$SLEDC" wipe disks=only level=purge method=overwrite
check 3 "no command to erase a disk" env SLED_TEST_DISK="$TMPDIR/disk" "$SLEDC" wipe disks=only level=purge
check 2 "token in the clear" "$SLEDC" plan servers=http://192.0.2.1 mac=52:54:00:77:00:01 token=/dev/null out=/dev/null
check 0 "help" "$SLEDC" --help
check 0 "help of a verb" "$SLEDC" write --help
check 0 "operand" "$SLEDC" operand append kexec disk=only append=a%20b
[ "$(cat "$TMPDIR/out")" = "a b" ] || { echo "not ok - operand: $(cat "$TMPDIR/out")"; status=1; }
check 1 "absent operand" "$SLEDC" operand fallback kexec disk=only
check 0 "disks" "$SLEDC" disks root="$SLED_TREE"
check 0 "one disk" "$SLEDC" disks root="$SLED_TREE" disk=serial:0x1234abcd
[ "$(cat "$TMPDIR/out")" = /dev/mmcblk0 ] || { echo "not ok - one disk: $(cat "$TMPDIR/out")"; status=1; }
check 4 "a disk in use" "$SLEDC" disks root="$SLED_TREE" disk=serial:LAB-0001
check 4 "several disks" "$SLEDC" disks root="$SLED_TREE" disk=only
[ "$(grep -c '^disk ' "$TMPDIR/out")" = 16 ] || { echo "not ok - all disks are listed"; status=1; }
exit $status
