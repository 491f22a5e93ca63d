# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Step fetch: brings an image into memory, or leaves it on an NFS export and makes a device of it, of which each block
# is checked. It stays until the next plan.

fetch_folder=$ROOT/run/sled/fetched

# fetch_room: bytes that an image may have, so that the system and what reads the image have memory too.
fetch_room() {
	awk '$1 == "MemAvailable:" && $2 > 65536 { print int(($2 - 65536) * 1024 / 1.15) }' "$ROOT/proc/meminfo"
}

step_fetch() {
	if [ "$(words_value nfs "$@")" ]; then
		fetch_attach "$@"
		return
	fi
	fetch_as=$(words_value as "$@") fetch_room=$(fetch_room)
	[ "$fetch_room" ] || { echo "less than 64 MiB of memory are free" >&2 && exit 3; }
	mkdir -p "$fetch_folder/$fetch_as"
	$MOCK mount -t tmpfs -o "nosuid,nodev,noexec,mode=700,size=$fetch_room" tmpfs "$fetch_folder/$fetch_as"
	shift
	set -f
	# shellcheck disable=SC2046 # the operands of the plan but one
	exec sledc write "file=$fetch_folder/$fetch_as/image" "room=$fetch_room" mode=full \
		$(words_pick 'image digest name statement signature unsigned multicast expected' "$@")
}

fetch_attach() {
	for fetch_module in nfsv3 loop dm-verity; do $MOCK modprobe -q "$fetch_module" || :; done
	mkdir -p "$fetch_folder/nfs"
	shift
	sledc attach "folder=$fetch_folder/nfs" "$@" >"$fetch_folder/device"
}

# fetch_end: frees the memory of images that an earlier plan has fetched.
fetch_end() {
	if [ -d "$fetch_folder/nfs" ]; then
		wait_for 20 "the image of kind root" sledc detach "folder=$fetch_folder/nfs" 2>/dev/null || return 0
		rmdir "$fetch_folder/nfs" && rm -f "$fetch_folder/device"
	fi
	for fetch_as in root kernel; do
		[ -d "$fetch_folder/$fetch_as" ] || continue
		# A loop device of a job may hold the image for a moment.
		wait_for 20 "the image of kind $fetch_as" $MOCK umount "$fetch_folder/$fetch_as" 2>/dev/null || return 0
		rmdir "$fetch_folder/$fetch_as" || :
	done
}
