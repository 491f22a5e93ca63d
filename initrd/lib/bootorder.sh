# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What UEFI boots first (contract/plan.md, Boot order).

esp=$ROOT/run/sled/esp

# set_boot_order DISK ORDER: a firmware that refuses is told of, and does not stop the machine from getting its system.
set_boot_order() {
	case $2 in '' | keep) return 0 ;; esac
	if [ ! -d "$ROOT/sys/firmware/efi" ]; then
		detail "boot order $2: not set, this machine starts by BIOS"
	elif said=$(order_boot "$1" "$2" 2>&1); then
		echo "$said"
		detail "boot order $2: set"
	else
		echo "$said"
		detail "boot order $2: not set, $(echo "$said" | tail -n 1)"
	fi
}

# order_boot DISK ORDER, in a shell of its own, which unmounts what it mounts and nothing else.
order_boot() (
	# shellcheck disable=SC2034 # of disk.sh
	mounted=
	trap release EXIT
	find_loader "$1" || { echo "no partition of $1 but its root holds a loader for UEFI"; exit 1; }
	echo "the loader is $loader of partition $number"
	for entry in $(entries | sed -n 's/^Boot\([0-9A-F]\{4\}\). sled\(\t.*\)\{0,1\}$/\1/p'); do
		$MOCK efibootmgr -q -b "$entry" -B || exit
	done
	$MOCK efibootmgr -q -c -d "$1" -p "$number" -L sled -l "$(echo "$loader" | tr / '\134')" || exit
	wanted=$(entries | in_order "$2")
	$MOCK efibootmgr -q -o "$wanted" || exit
	entries | grep -q "^BootOrder: $wanted\$" || { echo "the firmware kept another order than $wanted"; exit 1; }
	entries
)

entries() { $MOCK efibootmgr -v; }

# in_order ORDER: the entries' numbers in that order, from what efibootmgr says of them, joined by commas.
in_order() {
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
			for (i = 1; i <= n; i++) if (order == "network" && numbers[i] in network) list = list "," numbers[i]
			if (order == "network") list = list "," own
			for (i = 1; i <= n; i++) if (numbers[i] != own && !(order == "network" && numbers[i] in network)) list = list "," numbers[i]
			print substr(list, 2)
		}'
}

# find_loader DISK: sets $loader, a path on the partition $number. A system may keep its ESP beside others.
find_loader() {
	for device in $(partitions "$1"); do
		[ "$device" != "$root_device" ] || continue
		attach "$device" "$esp" has_loader || continue
		number=$(cat "$ROOT/sys/class/block/${1##*/}/${device##*/}/partition")
		return 0
	done
	return 1
}

# has_loader FOLDER: sets $loader: the vendor's own rather than the one for removable media, and shim rather than what it starts.
has_loader() {
	case $($MOCK uname -m) in aarch64) arch=aa64 ;; *) arch=x64 ;; esac
	for loader in "$1"/EFI/*/shim"$arch".efi "$1"/EFI/*/grub"$arch".efi "$1"/EFI/*/systemd-boot"$arch".efi "$1"/EFI/Microsoft/Boot/bootmgfw.efi \
		"$1"/EFI/BOOT/BOOT*.EFI "$1"/EFI/boot/boot*.efi; do
		case $loader in
		*/EFI/[Bb][Oo][Oo][Tt]/[Bb][Oo][Oo][Tt]*) echo "${loader##*/}" | grep -q -i "^boot$arch.efi\$" || continue ;;
		*/EFI/[Bb][Oo][Oo][Tt]/*) continue ;;
		esac
		if [ -f "$loader" ]; then
			loader=${loader#"$1"}
			return 0
		fi
	done
	return 1
}
