# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Step start as=system: starts the Sled system again, on a fetched kernel, or that of the boot server.

system_folder=$ROOT/run/sled/start

# system_archive FOLDER PATTERN...: prints an archive of the folder, without these paths and what is mounted in it.
system_archive() (
	cd "$1" || exit
	shift
	set -f
	for system_pattern; do set -- "$@" -path "$system_pattern" -prune -o && shift; done
	find . -xdev "$@" -print | cpio -o -H newc 2>/dev/null
)

# Copies the modules of the fetched kernel that this system has of the running one, and those that they need.
system_modules() {
	system_into=$system_folder/own/lib/modules/$system_release
	mkdir -p "$system_into"
	cp "$system_kernel"/modules.* "$system_into/"
	{
		find "$ROOT/lib/modules" -name '*.ko*'
		echo
		cat "$system_kernel/modules.dep"
	} | awk -F : '
		function name(path) {
			sub(/.*\//, "", path); sub(/\.ko.*/, "", path); gsub(/-/, "_", path)
			return path
		}
		$0 == "" { listed = 1; next }
		!listed { has[name($0)] = 1; next }
		name($1) in has { print $1; n = split($2, needs, " "); for (i = 1; i <= n; i++) print needs[i] }
	' | sort -u | while read -r system_module; do
		mkdir -p "$system_into/${system_module%/*}"
		cp "$system_kernel/$system_module" "$system_into/$system_module"
	done
}

# The arguments of the boot that came through the firmware, without those of its loader.
system_base() {
	system_from=$ROOT/etc/sled/arguments
	[ -e "$system_from" ] || system_from=$ROOT/proc/cmdline
	tr ' ' '\n' <"$system_from" |
		sed -e '/^initrd=/d' -e '/^BOOT_IMAGE=/d' -e '/^$/d' | paste -s -d ' ' -
}

# system_self PATTERN...: prints an archive of this system, without these paths.
system_self() { system_archive "$ROOT/" './run/*' './tmp/*' ./image "$@"; }

# Refuses what memory has no room for: the archive lies in memory as a file, is read, and is copied to where the next
# kernel unpacks it.
system_room() {
	system_size=$(wc -c <"$fetch_folder/kernel/image")
	system_wants=$((3 * (system_size + $(system_self | wc -c))))
	system_has=$(awk '$1 == "MemAvailable:" && $2 > 65536 { print ($2 - 65536) * 1024 }' "$ROOT/proc/meminfo")
	[ "$system_wants" -gt "${system_has:-0}" ] || return 0
	echo "a kernel image of $system_size bytes needs $system_wants bytes of memory to be started," \
		"and ${system_has:-0} are free"
	exit 3
}

# The fetched kernel, and this system with its modules. The image comes along, as /image, for the other modules.
system_fetched() {
	system_room
	for system_needed in loop squashfs; do $MOCK modprobe -q "$system_needed" || :; done
	mkdir -p "$system_folder/image"
	$MOCK mount -t squashfs -o loop,ro,nodev "$fetch_folder/kernel/image" "$system_folder/image"
	system_kernel=$(echo "$system_folder"/image/usr/lib/modules/*) system_release=${system_kernel##*/}
	[ -f "$system_kernel/vmlinuz" ] || { echo "the image has no /usr/lib/modules/RELEASE/vmlinuz" && exit 3; }
	system_modules
	system_base >"$system_folder/own/etc/sled/arguments"
	system_self ./lib/modules ./etc/sled/arguments >"$system_folder/initrd"
	system_archive "$fetch_folder/kernel" >>"$system_folder/initrd"
	system_vmlinuz=$system_kernel/vmlinuz
}

# The kernel and the initrd of the boot server.
system_download() {
	sledc download "url=$1" "out=$system_folder/vmlinuz" "ca=$ROOT/etc/sled/ca.crt" &&
		sledc download "url=$2" "out=$system_folder/initrd" "ca=$ROOT/etc/sled/ca.crt" || return
	system_vmlinuz=$system_folder/vmlinuz
	system_size=$(wc -c <"$system_folder/initrd")
	head -c $(((4 - system_size % 4) % 4)) /dev/zero >>"$system_folder/initrd"
}

# Loads it, with a ticket for its boot.
system_load() {
	sledc ticket $node "out=$system_folder/own/etc/sled/ticket" || return
	system_archive "$system_folder/own" >>"$system_folder/initrd" || return
	rm -rf "$system_folder/own"
	kexec_load_files "$system_vmlinuz" "$system_folder/initrd" "$(system_base)${start_append:+ $start_append}" ||
		return "$kexec_code"
}

system_clear() {
	[ ! -d "$system_folder/image" ] || $MOCK umount "$system_folder/image" 2>/dev/null || :
	rm -rf "$system_folder"
}

# Of the boot server: whatever fails, the machine restarts.
system_fresh() {
	system_method=kexec
	if ! system_download "$1" "$2" || ! system_load; then
		system_method=reboot
		plan_detail "reboot: the Sled system of the boot server could not be loaded"
	fi
}

system_start() {
	system_method=kexec
	system_clear
	trap system_clear EXIT
	(umask 077 && mkdir -p "$system_folder")
	mkdir -p "$system_folder/own/etc/sled"
	if [ "$start_vmlinuz" ]; then
		system_fresh "$start_vmlinuz" "$start_initrd"
	else
		system_fetched
		system_load || exit
	fi
	sync
	echo "way $system_method" >&3
	echo "$system_method" >"$ROOT/run/sled/jump"
}
