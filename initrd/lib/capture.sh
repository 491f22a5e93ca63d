# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Step capture: makes an image of the node's disk on the boot server.

step_capture() {
	capture_disk=$(disk_of_step "$@")
	disk_narrow "$@"
	for capture_device in $(disk_partitions "$capture_disk"); do capture_replay "$capture_device"; done
	sync
	export SLED_CA="$ROOT/etc/sled/ca.crt" SLED_TOKEN_FILE="$ROOT/run/sled/token"
	sledc "$@"
}

# capture_replay DEVICE: mounts and unmounts it, so that the kernel replays the journal of a filesystem that was in use.
# A filesystem that cannot be mounted is left unchanged.
capture_replay() {
	mkdir -p "$disk_root"
	for capture_type in ext4 xfs btrfs f2fs; do
		disk_mount "$1" "$disk_root" "$capture_type" noatime || continue
		disk_detach "$disk_root"
		echo "$1: the journal of $capture_type is empty" >&2
		return 0
	done
}
