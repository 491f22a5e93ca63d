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
	if ! bootorder_find_loader "$1"; then
		echo "no partition of $1 except its root has the UEFI boot loader of its system"
		exit 1
	fi
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

# bootorder_vendors: prints the names that folders of an ESP have for the installed system, the best first; nothing if
# no root is mounted.
bootorder_vendors() {
	[ -n "${disk_root_device-}" ] || return 0
	for bootorder_key in ID ID_LIKE; do
		sledc tree get "$disk_root" /etc/os-release | sed -n "s/^$bootorder_key=//p" | tr -d '"'\' | tr ' ' '\n'
	done | sed 's/^rhel$/redhat/; s/^ol$/redhat/; s/^opensuse.*/opensuse/; s/^sle.*/sles/'
}

# bootorder_csv FOLDER ARCH: prints "csv VENDOR LOADER" for each BOOT*.CSV: its first field is what the vendor starts.
bootorder_csv() {
	sledc tree files "$1" '/[Ee][Ff][Ii]/*/[Bb][Oo][Oo][Tt]*.[Cc][Ss][Vv]' | grep -i "/boot\($2\)\{0,1\}\.csv\$" |
		while read -r bootorder_file; do
			bootorder_folder=${bootorder_file%/*}
			# UTF-16 of ASCII
			echo "csv ${bootorder_folder##*/}" "$(sledc tree get "$1" "$bootorder_file" |
				tr -d '\000\376\377\r' | sed 's/,.*//; q')"
		done
}

# bootorder_choose ARCH VENDORS: reads paths of an ESP, and the lines of bootorder_csv before them. Prints the loader:
# the image's own vendor's, else the only one; of a vendor what its CSV names, else shim, which starts the others. Else
# the one for removable media. A FAT has names in any case.
bootorder_choose() {
	awk -v arch="$1" -v own="$2" '
		function rank(vendor, name) {
			if (name == named[vendor]) return 1
			if (name == "shim.efi" || name == "shim" arch ".efi") return 2
			if (name == "grub.efi" || name == "grub" arch ".efi") return 3
			return name == "systemd-boot" arch ".efi" ? 4 : 0
		}
		$1 == "csv" { named[tolower($2)] = tolower($3); next }
		{
			n = split(tolower($0), part, "/")
			if (part[3] == "microsoft" && part[n] == "bootmgfw.efi") windows = windows ? windows : $0
			if (n != 4 || part[3] == "boot") {
				if (part[4] == "boot" arch ".efi") removable = removable ? removable : $0
				next
			}
			r = rank(part[3], part[4])
			if (!r || (part[3] in best && best[part[3]] <= r)) next
			if (!(part[3] in best)) count++
			best[part[3]] = r
			path[part[3]] = only = $0
		}
		END {
			n = split(own, vendor, "\n")
			for (i = 1; i <= n; i++)
				if (vendor[i] in path) { print path[vendor[i]]; exit }
			if (count == 1) print only
			else if (removable && (own || count || !windows)) print removable
			else if (!count && windows) print windows
		}'
}

# bootorder_has_loader FOLDER: sets $bootorder_loader.
bootorder_has_loader() {
	case $($MOCK uname -m) in aarch64) bootorder_arch=aa64 ;; *) bootorder_arch=x64 ;; esac
	bootorder_loader=$({
		bootorder_csv "$1" "$bootorder_arch"
		sledc tree files "$1" '/[Ee][Ff][Ii]/*/*' \
			'/[Ee][Ff][Ii]/[Mm][Ii][Cc][Rr][Oo]*/[Bb][Oo][Oo][Tt]/[Bb][Oo][Oo][Tt][Mm][Gg][Ff][Ww].*'
	} | bootorder_choose "$bootorder_arch" "$(bootorder_vendors)")
	[ -n "$bootorder_loader" ]
}
