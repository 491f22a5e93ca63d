# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The fetched root as a system: what it changes is in memory too. configure adapts it, and start leaves the Sled system
# for it.

memory_folder=$ROOT/run/sled/memory memory_entered=$ROOT/system

# memory_open: mounts it at $disk_root, once a plan; it stays until the jump, or the next plan.
memory_open() {
	[ ! -d "$memory_folder" ] || return 0
	[ -e "$fetch_folder/root/image" ] || { echo "no root was fetched" >&2 && exit 3; }
	for memory_module in loop squashfs overlay; do $MOCK modprobe -q "$memory_module" || :; done
	mkdir -p "$memory_folder/image" "$memory_folder/upper"
	mkdir -p "$disk_root"
	$MOCK mount -t squashfs -o loop,ro "$fetch_folder/root/image" "$memory_folder/image"
	$MOCK mount -t tmpfs -o mode=700 tmpfs "$memory_folder/upper"
	mkdir -m 755 "$memory_folder/upper/root" "$memory_folder/upper/work"
	memory_lower=$memory_folder/image
	memory_modules
	memory_layers=lowerdir=$memory_lower,upperdir=$memory_folder/upper/root,workdir=$memory_folder/upper/work
	$MOCK mount -t overlay -o "$memory_layers" overlay "$disk_root"
}

# memory_modules: adds those of the running kernel, unless the root has them. Nothing follows a link of the root here:
# they are put below the overlay.
memory_modules() {
	memory_release=$(uname -r) memory_library=lib
	[ ! -L "$memory_folder/image/lib" ] || memory_library=usr/lib
	[ ! -e "$memory_folder/image/$memory_library/modules/$memory_release" ] || return 0
	if [ -e "$ROOT/image" ]; then memory_kernel; return; fi
	mkdir -p "$memory_folder/upper/root/$memory_library/modules"
	cp -a "$ROOT/lib/modules/$memory_release" "$memory_folder/upper/root/$memory_library/modules/"
}

# memory_kernel: the image of the kernel that this system was started on has all of them, in /usr/lib/modules. It
# becomes the lowest layer, so that they take no more memory.
memory_kernel() {
	mkdir -p "$memory_folder/kernel"
	$MOCK mount -t squashfs -o loop,ro,nodev "$ROOT/image" "$memory_folder/kernel"
	memory_lower=$memory_lower:$memory_folder/kernel
	[ "$memory_library" = lib ] || return 0
	mkdir -p "$memory_folder/upper/root/lib/modules"
	ln -s "/usr/lib/modules/$memory_release" "$memory_folder/upper/root/lib/modules/"
}

# memory_end: frees what an earlier plan has opened and not started.
memory_end() {
	[ -d "$memory_folder" ] || return 0
	$MOCK umount "$disk_root" 2>/dev/null || :
	for memory_mounted in "$memory_folder/upper" "$memory_folder/image" "$memory_folder/kernel"; do
		$MOCK umount "$memory_mounted" 2>/dev/null || :
	done
	rm -rf "$memory_folder"
}

# memory_enter: nothing of the Sled system is left: processes, addresses, mounts, files. The overlay holds what it is
# made of. An interface that is up could not be renamed.
memory_enter() {
	network_release
	network_unstack
	for memory_interface in $(network_interfaces); do $MOCK ip link set "$memory_interface" down; done
	$MOCK kill -9 -1 || :
	mkdir "$memory_entered"
	$MOCK mount -o move "$disk_root" "$memory_entered"
	for memory_mounted in dev proc run sys; do $MOCK umount -l "$ROOT/$memory_mounted"; done
	exec $MOCK switch_root "$memory_entered" /sbin/init
}
