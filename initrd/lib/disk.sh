# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Finds and mounts the installed system.

# Where its root is mounted, and a separate /boot ($disk_boot is empty without one). Whoever made the image made its
# links, so only `sledc tree` reads and writes below, and `sledc bootentry` finds kernels.
disk_root=$ROOT/run/sled/root disk_separate=$ROOT/run/sled/boot disk_boot='' disk_boot_device='' disk_root_device=''
disk_mounted='' disk_esp='' disk_system=$ROOT/run/sled/system disk_another=$ROOT/run/sled/another
disk_safe=nosuid,nodev,noexec
disk_alone='' # the device of the partition that the step is about; empty: it is about the whole disk

# disk_of_step VERB OPERAND...: prints the disk that the step names.
disk_of_step() {
	# shellcheck disable=SC2046 # operands
	sledc disks $(words_pick 'disk keep' "$@")
}

# disk_narrow VERB OPERAND...: sets $disk_alone. Nothing else of the disk is mounted then.
disk_narrow() {
	[ -n "$(words_value partition "$@")" ] || return 0
	# shellcheck disable=SC2046 # operands
	disk_alone=$(sledc disks $(words_pick 'disk keep partition' "$@"))
}

# disk_partitions DISK: prints the devices of its partitions in order; the disk itself if it has no partition table; or
# the one that the step is about.
disk_partitions() {
	[ -z "$disk_alone" ] || { echo "$disk_alone" && return; }
	disk_list "$1"
}

# disk_list DISK: the same, of the whole disk.
disk_list() {
	$MOCK blockdev --rereadpt "$1" 2>/dev/null || :
	for disk_part in "$ROOT/sys/class/block/${1##*/}"/*/partition; do
		[ -e "$disk_part" ] || { echo "$1"; continue; }
		echo "$(cat "$disk_part") ${1%/*}/$(basename "$(dirname "$disk_part")")"
	done | sort -n | sed 's/.* //'
}

# disk_mount DEVICE FOLDER TYPE OPTIONS: for disk_release to unmount.
disk_mount() {
	$MOCK mount -t "$3" -o "$disk_safe,$4" "$1" "$2" 2>/dev/null || return 1
	disk_mounted="$2 $disk_mounted"
}

# disk_add FOLDER: of a mount that somebody else has made.
disk_add() { disk_mounted="$1 $disk_mounted"; }

# disk_forget_one FOLDER: nothing is mounted there any more.
disk_forget_one() { disk_mounted=${disk_mounted#"$1 "}; }

# disk_views TYPE: prints TYPE:OPTIONS of each mount in which such a filesystem may show a system; nothing if it is of
# no use here. The driver of ext4 mounts ext2 and ext3 too.
disk_views() {
	case $1 in
	ext2 | ext3 | ext4) echo ext4:ro ;;
	xfs | vfat) echo "$1:ro" ;;
	btrfs) echo btrfs:ro btrfs:ro,subvol=@ btrfs:ro,subvol=@rootfs btrfs:ro,subvol=root ;;
	esac
}

# disk_attach DEVICE FOLDER TEST: mounts it read-only with the first type and options for which TEST is true; returns 1
# if there are none, 2 if the device cannot be read. A type that it does not hold is not tried: that would load a
# driver, and those of xfs and btrfs take a second.
disk_attach() {
	disk_types=$(sledc filesystem "device=$1") || return 2
	mkdir -p "$2"
	for disk_type in $disk_types; do
		for disk_view in $(disk_views "$disk_type"); do
			disk_mount "$1" "$2" "${disk_view%%:*}" "${disk_view#*:}" || continue
			"$3" "$2" && return 0
			disk_detach "$2"
		done
	done
	return 1
}

# Of the root, which is mounted read-only until then.
disk_make_writable() {
	$MOCK mount -o "remount,$disk_safe,rw" "$disk_root_device" "$disk_root" && return 0
	echo "the filesystem of $disk_root_device cannot be written" >&2
	return 1
}

disk_detach() {
	$MOCK umount "$1"
	disk_forget_one "$1"
}

# In a subshell: leaves the mounts of the parent to it.
disk_forget() {
	disk_mounted=
	lvm_forget
}

# Unmounts everything, in reverse order, and deactivates what is below.
disk_release() {
	for disk_folder in $disk_mounted; do disk_detach "$disk_folder"; done
	lvm_close
}

# disk_is_root FOLDER: os-release is often a link, whose target may be on another partition.
disk_is_root() {
	[ -n "$(sledc tree files "$1" /etc/passwd)" ] && [ -n "$(sledc tree names "$1" /etc/os-release)" ]
}

# disk_has_kernel FOLDER [PATH]: whether it, or a folder in it, is a /boot.
disk_has_kernel() {
	set -- "$1" "${2-}"
	[ -n "$(sledc tree files "$1" "$2/vmlinu*" "$2/loader/entries/*.conf" "$2/grub/grub.cfg" "$2/grub2/grub.cfg")" ]
}

# disk_find_root DEVICE...: mounts the system that is on one of them at $disk_root; sets $disk_root_device. Returns 1 if
# none has one; then $disk_unreadable also has those that cannot be read, one of which may be the root. Of several
# systems it is the one whose own boot loader starts it; returns 3, with the reason, if that is not one.
disk_find_root() {
	disk_systems='' disk_root_device=''
	for disk_candidate; do
		if disk_try_root "$disk_candidate"; then
			disk_systems="$disk_systems $disk_candidate"
		elif [ $? = 2 ]; then
			disk_unreadable="$disk_unreadable $disk_candidate"
		fi
	done
	disk_root_device=${disk_systems# }
	case $disk_root_device in
	'') return 1 ;;
	*' '*)
		disk_detach "$disk_root"
		disk_choose_root || return
		disk_attach "$disk_root_device" "$disk_root" disk_is_root
		;;
	esac
}

# disk_try_root DEVICE: whether it has a system. The first one stays mounted.
disk_try_root() {
	if [ -z "$disk_systems" ]; then
		disk_attach "$1" "$disk_root" disk_is_root || return
	else
		disk_attach "$1" "$disk_another" disk_is_root || return
		disk_detach "$disk_another"
	fi
}

# Sets $disk_root_device to the one of $disk_systems that the boot loader in its /boot starts.
disk_choose_root() {
	disk_own=
	for disk_root_device in $disk_systems; do
		disk_attach "$disk_root_device" "$disk_root" disk_is_root || continue
		if disk_starts_itself; then disk_own="$disk_own $disk_root_device"; fi
		disk_detach "$disk_root"
	done
	disk_root_device=${disk_own# }
	case $disk_root_device in
	*' '*) disk_why="each has a boot loader that starts it" ;;
	'') disk_why="no boot loader is known to start one of them${disk_entry:+: $disk_entry}" ;;
	*) return 0 ;;
	esac
	disk_root_device=
	echo "several systems, on$disk_systems, and $disk_why: it cannot be known which one this is about" >&2
	return 3
}

# Whether the boot loader of the system that is mounted starts this system.
disk_starts_itself() {
	disk_mount_boot "$disk_all"
	disk_code=0
	disk_entry=$(sledc bootentry "root=$disk_root" ${disk_boot:+"boot=$disk_boot"} 2>&1) || disk_code=$?
	[ -z "$disk_boot" ] || disk_detach "$disk_boot"
	disk_boot=
	[ "$disk_code" = 0 ] || return 1
	set -f
	disk_spec=$(words_value arguments bootentry $disk_entry | tr ' ' '\n' | sed -n 's/^root=//p' | tail -n 1)
	set +f
	disk_entry="root=$disk_spec"
	case $disk_spec in
	UUID=*) [ -n "$(sledc filesystem "device=$disk_root_device" "uuid=${disk_spec#*=}")" ] ;;
	LABEL=*) [ -n "$(sledc filesystem "device=$disk_root_device" "label=${disk_spec#*=}")" ] ;;
	*) [ "$disk_spec" = "$disk_root_device" ] ;;
	esac
}

# disk_mount_root DISK: the same of its partitions, then of its logical volumes. Returns the exit code of the step,
# after the reason, if there is none: 3 if nothing has a system, 1 if something cannot be read.
disk_mount_root() {
	mkdir -p "$disk_root"
	disk_unreadable='' disk_found=0 disk_all=$1
	# shellcheck disable=SC2046 # devices
	disk_find_root $(disk_partitions "$1") || disk_found=$?
	[ "$disk_found" = 1 ] || return "$disk_found"
	disk_code=0
	lvm_open "$1" || disk_code=$?
	if [ "$disk_code" = 0 ]; then
		disk_found=0
		disk_find_root $lvm_volumes || disk_found=$?
		[ "$disk_found" = 1 ] || return "$disk_found"
	fi
	if [ -n "$disk_unreadable" ]; then
		echo "no system was found on $1, where these are not readable:$disk_unreadable" >&2
		return 1
	fi
	case $disk_code in
	0)
		echo "no partition and no logical volume of $1 has a system" \
			"(etc/passwd and etc/os-release on ext4, xfs, btrfs or vfat)$lvm_refused" >&2
		;;
	1) echo "no partition of $1 has a system (etc/passwd and etc/os-release on ext4, xfs, btrfs or vfat)" >&2 ;;
	esac
	return 3
}

# disk_mount_boot DISK: mounts a partition or logical volume with kernels, unless the root has them; sets $disk_boot.
disk_mount_boot() {
	disk_boot='' disk_boot_device=''
	if disk_has_kernel "$disk_root" /boot; then return 0; fi
	for disk_device in $(disk_partitions "$1") $lvm_volumes; do
		[ "$disk_device" != "$disk_root_device" ] || continue
		disk_attach "$disk_device" "$disk_separate" disk_has_kernel || continue
		# shellcheck disable=SC2034 # for kexec.sh
		disk_boot=$disk_separate disk_boot_device=$disk_device
		return 0
	done
}

# disk_is_esp FOLDER: a FAT has names in any case.
disk_is_esp() { [ -n "$(sledc tree names "$1" '/[Ee][Ff][Ii]/*')" ]; }

# disk_mount_esp DISK: mounts the first EFI system partition, unless it is the root or /boot; sets $disk_esp.
disk_mount_esp() {
	disk_esp=
	for disk_device in $(disk_partitions "$1"); do
		case $disk_device in "$disk_root_device" | "$disk_boot_device") continue ;; esac
		[ "$(sledc filesystem "device=$disk_device" 2>/dev/null)" = vfat ] || continue
		disk_attach "$disk_device" "$disk_system" disk_is_esp || continue
		# shellcheck disable=SC2034 # for kexec.sh
		disk_esp=$disk_system
		return 0
	done
}
