# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Sets a clock that is good enough for TLS: from the RTC, but never before this initrd, or its site part, was built.

clock_set() {
	$MOCK hwclock -s -u 2>/dev/null || :
	clock_floor=0
	for clock_file in build-clock clock; do
		clock_seconds=$(cat "$ROOT/etc/sled/$clock_file" 2>/dev/null) || continue
		case $clock_seconds in
		'' | *[!0-9]*) console_say "/etc/sled/$clock_file must be a number of seconds, not '$clock_seconds'" ;;
		*) [ "$clock_seconds" -le "$clock_floor" ] || clock_floor=$clock_seconds ;;
		esac
	done
	[ "$(date +%s)" -lt "$clock_floor" ] || return 0
	$MOCK date -u -s "@$clock_floor" >/dev/null
	console_say "the clock was behind: set to $(date -u -d "@$clock_floor" +%Y-%m-%dT%H:%M:%SZ)"
}
