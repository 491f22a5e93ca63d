# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Step kexec: loads the installed system's kernel. init jumps once the servers know.

# load: first the way that checks signatures, then the one for kernels that it cannot read. Several initrds are one behind the other.
load() {
	case $initrd in
	*,*)
		echo "$initrd" | tr ',' '\n' | while read -r part; do cat "$part"; done >"$ROOT/run/sled/initrd"
		initrd=$ROOT/run/sled/initrd
		;;
	esac
	set -- "$kernel" ${initrd:+"--initrd=$initrd"} "--command-line=$arguments sled.start=kexec"
	$MOCK kexec -s -l "$@" || $MOCK kexec -l "$@"
}

# find_kernel VERB OPERAND...: sets $kernel, $initrd and $arguments from what the installed boot loader would start.
find_kernel() {
	entry=$(sledc bootentry "root=$root" "boot=$boot") || return
	set -f
	set -- "$(value append "$@")" bootentry $entry
	set +f
	append=$1
	shift
	kernel=$(value kernel "$@") && initrd=$(value initrd "$@") && arguments=$(value arguments "$@")${append:+ $append} || return
	echo "kernel $kernel, initrd ${initrd:-none}, arguments $arguments"
}

step_kexec() {
	exec 3>&1 >&2 # 3: see detail
	disk=$(the_disk "$@")
	mount_root "$disk"
	mount_boot "$disk"
	way=kexec
	if ! find_kernel "$@" || ! watch "$(value watchdog "$@")" || ! load; then
		way=reboot
		rm -f "$watched"
		echo "no kernel of $disk can be loaded" >&2
		[ "$(value fallback "$@")" = reboot ] || exit 3
		echo "falling back to a reboot" >&2
	fi
	sync
	release
	echo "way $way" >&3
	echo "$way" >"$ROOT/run/sled/jump"
}
