# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Step kexec: loads the installed system's kernel. init jumps after the servers have accepted the report.

# Tries the system call that checks signatures first, then the older one, for kernels that the first cannot load. Joins
# several initrds.
kexec_load() {
	case $kexec_initrd in
	*,*)
		echo "$kexec_initrd" | tr ',' '\n' |
			while read -r kexec_part; do cat "$kexec_part"; done >"$ROOT/run/sled/initrd"
		kexec_initrd=$ROOT/run/sled/initrd
		;;
	esac
	set -- "$kexec_kernel" ${kexec_initrd:+"--initrd=$kexec_initrd"} \
		"--command-line=$kexec_arguments$watchdog_argument sled.start=kexec"
	$MOCK kexec -s -l "$@" || $MOCK kexec -l "$@"
}

# kexec_find VERB OPERAND...: sets $kexec_kernel, $kexec_initrd and $kexec_arguments from what the installed boot loader
# would start.
kexec_find() {
	kexec_entry=$(sledc bootentry "root=$disk_root" "boot=$disk_boot") || return
	set -f
	set -- "$(words_value append "$@")" bootentry $kexec_entry
	set +f
	kexec_append=$1
	shift
	kexec_kernel=$(words_value kernel "$@") && kexec_initrd=$(words_value initrd "$@") &&
		kexec_arguments=$(words_value arguments "$@")${kexec_append:+ $kexec_append} || return
	echo "kernel $kexec_kernel, initrd ${kexec_initrd:-none}, arguments $kexec_arguments"
}

step_kexec() {
	exec 3>&1 >&2 # 3: see plan_detail
	kexec_disk=$(disk_of_step "$@")
	disk_mount_root "$kexec_disk"
	disk_mount_boot "$kexec_disk"
	kexec_method=kexec
	if ! kexec_find "$@" || ! watchdog_choose "$(words_value watchdog "$@")" || ! kexec_load; then
		kexec_method=reboot
		rm -f "$watchdog_chosen"
		echo "no kernel of $kexec_disk could be loaded" >&2
		[ "$(words_value fallback "$@")" = reboot ] || exit 3
		echo "falling back to a reboot" >&2
	fi
	sync
	disk_release
	echo "way $kexec_method" >&3
	echo "$kexec_method" >"$ROOT/run/sled/jump"
}
