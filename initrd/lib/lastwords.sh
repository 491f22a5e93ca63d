# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Messages that a crashed kernel left in the platform's persistent store: EFI variables, ACPI's ERST, reserved memory.

lastwords_store=$ROOT/sys/fs/pstore lastwords_file=$ROOT/run/sled/lastwords

# Prints the records, the newest first. Records compressed by a method that this kernel does not know are left out.
lastwords_records() {
	# shellcheck disable=SC2045 # in order of time; the kernel names them
	for lastwords_record in $(ls -t "$lastwords_store"); do
		case $lastwords_record in *.enc.z) continue ;; esac
		printf -- '--- %s\n' "$lastwords_record"
		tr -d '\000' <"$lastwords_store/$lastwords_record"
		echo
	done
}

# Once per boot, before the first plan. The store is small: if it is never emptied, the next crash finds no room.
lastwords_send() {
	for lastwords_driver in efi_pstore ramoops; do $MOCK modprobe -q "$lastwords_driver" 2>/dev/null || :; done
	mkdir -p "$lastwords_store"
	$MOCK mount -t pstore -o nosuid,nodev,noexec pstore "$lastwords_store" 2>/dev/null || return 0
	[ -n "$(ls "$lastwords_store")" ] || return 0
	lastwords_records >"$lastwords_file"
	if sledc lastwords $node "file=$lastwords_file" 2>"$plan_log"; then
		console_say "the last messages of a crashed kernel were sent"
		rm -f "$lastwords_store"/* || :
	else
		console_say "the last messages of a crashed kernel were not sent: $(tail -n 1 "$plan_log")"
	fi
	rm -f "$lastwords_file"
}
