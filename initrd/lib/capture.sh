# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Step capture: the node's disk becomes an image on the boot server.

step_capture() {
	disk=$(the_disk "$@")
	for device in $(partitions "$disk"); do replay "$device"; done
	sync
	export SLED_CA="$ROOT/etc/sled/ca.crt" SLED_TOKEN_FILE="$ROOT/run/sled/token"
	sledc "$@"
}

# replay DEVICE: mounts it and unmounts it, by which the kernel brings a filesystem that was in use to rest: what lies in its journal is
# written where it belongs. One that does not mount is left as it is.
replay() {
	mkdir -p "$root"
	for type in ext4 xfs btrfs f2fs; do
		$MOCK mount -t "$type" -o noatime "$1" "$root" 2>/dev/null || continue
		mounted="$root $mounted"
		detach "$root"
		echo "$1: $type is at rest" >&2
		return 0
	done
}
