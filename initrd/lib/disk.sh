# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Finds and mounts the installed system.

root=$ROOT/run/sled/root boot=$ROOT/run/sled/boot mounted=

# the_disk VERB OPERAND...: prints the disk that the step names.
the_disk() {
	# shellcheck disable=SC2046 # operands
	sledc disks $(pick 'disk keep' "$@")
}

# partitions DISK: prints their devices in order; the disk itself when it has no partition table.
partitions() {
	$MOCK blockdev --rereadpt "$1" 2>/dev/null || :
	for part in "$ROOT/sys/class/block/${1##*/}"/*/partition; do
		[ -e "$part" ] || { echo "$1"; continue; }
		echo "$(cat "$part") ${1%/*}/$(basename "$(dirname "$part")")"
	done | sort -n | sed 's/.* //'
}

# attach DEVICE FOLDER TEST: mounts it read-only in whichever way makes TEST true; 1 when none does.
attach() {
	mkdir -p "$2"
	for way in 'ext4 ro' 'xfs ro' 'btrfs ro' 'btrfs ro,subvol=@' 'btrfs ro,subvol=@rootfs' 'btrfs ro,subvol=root' 'vfat ro'; do
		$MOCK mount -t "${way% *}" -o "${way#* }" "$1" "$2" 2>/dev/null || continue
		mounted="$2 $mounted"
		"$3" "$2" && return 0
		detach "$2"
	done
	return 1
}

detach() {
	$MOCK umount "$1"
	mounted=${mounted#"$1 "}
}

# Unmounts everything, the last first.
release() { for folder in $mounted; do detach "$folder"; done; }

is_root() { [ -f "$1/etc/passwd" ] && { [ -e "$1/etc/os-release" ] || [ -L "$1/etc/os-release" ]; }; }

has_kernel() {
	for file in "$1"/vmlinu* "$1"/loader/entries/*.conf "$1"/grub/grub.cfg "$1"/grub2/grub.cfg; do
		if [ -e "$file" ]; then return 0; fi
	done
	return 1
}

# mount_root DISK: at $root; sets $root_device. Exit code 3 when no partition holds a system.
mount_root() {
	for root_device in $(partitions "$1"); do
		attach "$root_device" "$root" is_root && return 0
	done
	echo "no partition of $1 holds a system (etc/passwd and etc/os-release on ext4, xfs, btrfs or vfat)" >&2
	exit 3
}

# mount_boot DISK: sets $boot to where the kernels are: a folder of the root, or a partition of its own.
mount_boot() {
	if has_kernel "$root/boot"; then
		boot=$root/boot
		return 0
	fi
	for device in $(partitions "$1"); do
		[ "$device" != "$root_device" ] || continue
		attach "$device" "$boot" has_kernel && return 0
	done
	boot=$root/boot
}
