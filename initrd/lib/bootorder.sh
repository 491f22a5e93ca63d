# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The boot order of UEFI (contract/plan.md, Boot order).

bootorder_esp=$ROOT/run/sled/esp

# bootorder_set DISK ORDER: if the firmware refuses, the step reports it as a detail and does not fail.
bootorder_set() {
	case $2 in '' | keep) return 0 ;; esac
	if [ ! -d "$ROOT/sys/firmware/efi" ]; then
		plan_detail "boot order $2: not set, this machine boots by BIOS"
	elif bootorder_output=$(bootorder_apply "$1" "$2" 2>&1); then
		echo "$bootorder_output"
		plan_detail "boot order $2: set"
	else
		echo "$bootorder_output"
		plan_detail "boot order $2: not set, $(echo "$bootorder_output" | tail -n 1)"
	fi
}

# bootorder_apply DISK ORDER: in a subshell, which unmounts only what it has mounted.
bootorder_apply() (
	disk_forget
	trap disk_release EXIT
	bootorder_find_loader "$1" || { echo "no partition of $1 except its root has a UEFI boot loader"; exit 1; }
	echo "the loader is $bootorder_loader of partition $bootorder_number"
	for bootorder_entry in $(bootorder_entries | sed -n 's/^Boot\([0-9A-F]\{4\}\). sled\(\t.*\)\{0,1\}$/\1/p'); do
		$MOCK efibootmgr -q -b "$bootorder_entry" -B || exit
	done
	$MOCK efibootmgr -q -c -d "$1" -p "$bootorder_number" -L sled \
		-l "$(printf '%s\n' "$bootorder_loader" | tr / '\134')" || exit
	bootorder_wanted=$(bootorder_entries | bootorder_sorted "$2")
	$MOCK efibootmgr -q -o "$bootorder_wanted" || exit
	bootorder_entries | grep -q "^BootOrder: $bootorder_wanted\$" ||
		{ echo "the firmware did not accept the order $bootorder_wanted"; exit 1; }
	bootorder_entries
)

bootorder_entries() { $MOCK efibootmgr -v; }

# bootorder_sorted ORDER: reads the output of efibootmgr and prints the entries' numbers in that order, joined by
# commas.
bootorder_sorted() {
	awk -v order="$1" '
		/^BootOrder: / { n = split($2, numbers, ",") }
		/^Boot[0-9A-F][0-9A-F][0-9A-F][0-9A-F]/ {
			number = substr($1, 5, 4)
			path = $0
			sub(/^[^\t]*/, "", path)
			if ($0 ~ /^Boot.....? sled(\t|$)/) own = number
			else if (path ~ /(MAC|IPv4|IPv6|Uri)\(/) network[number] = 1
		}
		END {
			if (order == "disk") list = "," own
			for (i = 1; i <= n; i++)
				if (order == "network" && numbers[i] in network) list = list "," numbers[i]
			if (order == "network") list = list "," own
			for (i = 1; i <= n; i++)
				if (numbers[i] != own && !(order == "network" && numbers[i] in network))
					list = list "," numbers[i]
			print substr(list, 2)
		}'
}

# bootorder_find_loader DISK: sets $bootorder_loader, a path on the partition $bootorder_number. There may be several
# ESPs.
bootorder_find_loader() {
	for bootorder_device in $(disk_partitions "$1"); do
		[ "$bootorder_device" != "$disk_root_device" ] || continue
		disk_attach "$bootorder_device" "$bootorder_esp" bootorder_has_loader || continue
		bootorder_number=$(cat "$ROOT/sys/class/block/${1##*/}/${bootorder_device##*/}/partition")
		return 0
	done
	return 1
}

# bootorder_has_loader FOLDER: sets $bootorder_loader. Prefers the vendor's loader to the one for removable media, and
# shim to the loader that shim starts.
bootorder_has_loader() {
	case $($MOCK uname -m) in aarch64) bootorder_arch=aa64 ;; *) bootorder_arch=x64 ;; esac
	bootorder_loader=$({
		sledc tree files "$1" "/EFI/*/shim$bootorder_arch.efi" "/EFI/*/grub$bootorder_arch.efi" \
			"/EFI/*/systemd-boot$bootorder_arch.efi" /EFI/Microsoft/Boot/bootmgfw.efi |
			grep -v -i '^/EFI/BOOT/' || :
		sledc tree files "$1" '/EFI/[Bb][Oo][Oo][Tt]/*' | grep -i "/boot$bootorder_arch\.efi\$" || :
	} | head -n 1)
	[ -n "$bootorder_loader" ]
}
