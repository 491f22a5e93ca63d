# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A clock that TLS can work with: from the RTC, but never before this initrd, or its site part, was made.

set_clock() {
	$MOCK hwclock -s -u 2>/dev/null || :
	floor=0
	for file in build-clock clock; do
		seconds=$(cat "$ROOT/etc/sled/$file" 2>/dev/null) || continue
		case $seconds in
		'' | *[!0-9]*) say "/etc/sled/$file holds no number of seconds: '$seconds'" ;;
		*) [ "$seconds" -le "$floor" ] || floor=$seconds ;;
		esac
	done
	[ "$(date +%s)" -lt "$floor" ] || return 0
	$MOCK date -u -s "@$floor" >/dev/null
	say "the clock was behind: set to $(date -u -d "@$floor" +%Y-%m-%dT%H:%M:%SZ)"
}
