# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What a kernel that died before left in the platform's persistent store: EFI variables, ACPI's ERST, reserved memory.

store=$ROOT/sys/fs/pstore words=$ROOT/run/sled/lastwords

# Prints the records, the newest first. What is compressed, with a method that this kernel does not know, says nothing.
records() {
	# shellcheck disable=SC2045 # in order of time; the kernel names them
	for record in $(ls -t "$store"); do
		case $record in *.enc.z) continue ;; esac
		printf -- '--- %s\n' "$record"
		tr -d '\000' <"$store/$record"
		echo
	done
}

# Once a boot, before the first plan. The store is small: a kernel that dies finds no room in one that is never emptied.
send_last_words() {
	for driver in efi_pstore ramoops; do $MOCK modprobe -q "$driver" 2>/dev/null || :; done
	mkdir -p "$store"
	$MOCK mount -t pstore -o nosuid,nodev,noexec pstore "$store" 2>/dev/null || return 0
	[ -n "$(ls "$store")" ] || return 0
	records >"$words"
	if sledc lastwords $node "file=$words" 2>"$log"; then
		say "a kernel died here before: its last words were sent"
		rm -f "$store"/* || :
	else
		say "last words were found and not taken: $(tail -n 1 "$log")"
	fi
	rm -f "$words"
}
