# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Step kexec: loads the installed system's kernel. init jumps once the servers know.

# load: first the way that checks signatures, then the one for kernels that it cannot read.
load() {
	set -- "$kernel" ${initrd:+"--initrd=$initrd"} "--command-line=$arguments"
	$MOCK kexec -s -l "$@" || $MOCK kexec -l "$@"
}

# find_kernel VERB OPERAND...: sets $kernel, $initrd and $arguments from what the installed boot loader would start.
find_kernel() {
	entry=$(sledc bootentry "root=$root" "boot=$boot") || return
	set -f
	set -- "$(sledc operand append "$@")" $entry
	set +f
	append=$1
	shift
	kernel=$(sledc operand kernel bootentry "$@") && initrd=$(sledc operand initrd bootentry "$@") &&
		arguments=$(sledc operand arguments bootentry "$@")${append:+ $append} || return
	echo "kernel $kernel, initrd ${initrd:-none}, arguments $arguments" >&2
}

step_kexec() {
	disk=$(the_disk "$@")
	mount_root "$disk"
	mount_boot "$disk"
	way=kexec
	if ! find_kernel "$@" || ! load; then
		way=reboot
		echo "no kernel of $disk can be loaded" >&2
		[ "$(sledc operand fallback "$@")" = reboot ] || exit 3
		echo "falling back to a reboot" >&2
	fi
	sync
	release
	echo "$way" >"$ROOT/run/sled/jump"
}
