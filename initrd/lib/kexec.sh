# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Step kexec: loads the installed system's kernel. init jumps after the servers have accepted the report.

# Joins several initrds: both system calls take one.
kexec_join() {
	case $kexec_initrd in *,*) ;; *) return 0 ;; esac
	echo "$kexec_initrd" | tr ',' '\n' |
		while read -r kexec_part; do cat "$kexec_part"; done >"$ROOT/run/sled/initrd"
	kexec_initrd=$ROOT/run/sled/initrd
	kexec_files="$(words_pick kernel $kexec_files)initrd=$kexec_initrd"
}

# sledc uses the system call that checks signatures. The older call checks nothing, so it follows only on code 3: the
# first call cannot load such a kernel. It never follows on a refusal. Sets $kexec_code, and $kexec_reason for messages.
# kexec_load [WORDS]: with these behind the arguments.
kexec_load() {
	set -f
	kexec_join
	kexec_arguments=$kexec_arguments${1-}
	(umask 077 && printf '%s\n' "$kexec_arguments" >"$ROOT/run/sled/arguments")
	kexec_said=$(sledc load $kexec_files "arguments=$ROOT/run/sled/arguments" 2>&1) && kexec_code=0 || kexec_code=$?
	set +f
	echo "$kexec_said"
	kexec_reason=": $kexec_said"
	case $kexec_code in
	0) ;;
	3)
		echo "loading it by the older system call"
		$MOCK kexec -c -l "$kexec_kernel" ${kexec_initrd:+"--initrd=$kexec_initrd"} \
			"--command-line=$kexec_arguments"
		;;
	*) return 1 ;;
	esac
}

# kexec_load_files KERNEL INITRD ARGUMENTS: the same of these files, whose paths are free of what an operand encodes.
kexec_load_files() {
	kexec_kernel=$1 kexec_initrd=$2 kexec_arguments=$3
	kexec_files="kernel=$1 ${2:+"initrd=$2"}"
	kexec_load
}

# What of this machine decides what its boot loader starts.
kexec_firmware() { if [ -d "$ROOT/sys/firmware/efi" ]; then echo efi; else echo bios; fi; }

# systemd-boot keeps an entry that was chosen for good, or for the next start, in the firmware.
kexec_chosen_elsewhere() {
	for kexec_variable in "$ROOT"/sys/firmware/efi/efivars/LoaderEntryDefault-* \
		"$ROOT"/sys/firmware/efi/efivars/LoaderEntryOneShot-*; do
		[ ! -e "$kexec_variable" ] || { kexec_variable=${kexec_variable##*/} && return 0; }
	done
	return 1
}

# kexec_is_there UUID=...: whether the filesystem of $kexec_kernel is the one that the loader names: the entry of
# another installation may have a kernel of the same name.
kexec_is_there() {
	[ -n "$1" ] || return 0
	case $kexec_kernel in
	"$disk_separate"/*) kexec_device=$disk_boot_device ;;
	*) kexec_device=$disk_root_device ;;
	esac
	[ -z "$(sledc filesystem "device=$kexec_device" "uuid=${1#UUID=}")" ] || return 0
	kexec_reason=": the default entry is of another installation, on the filesystem $1"
	return 1
}

# kexec_is_alone: whether what is started finds its root in the partition that the step is about, and nowhere else on
# the disk: images that were made alike have one UUID.
kexec_is_alone() {
	[ -n "$disk_alone" ] || return 0
	kexec_root=$(printf '%s\n' "$kexec_arguments" | tr ' ' '\n' | sed -n 's/^root=//p' | tail -n 1)
	kexec_reason=": the default entry has root=$kexec_root"
	# shellcheck disable=SC2046 # devices
	if ! mounts_search "$(mounts_name "$kexec_root")" $(disk_list "$kexec_disk") $lvm_volumes; then
		kexec_reason="$kexec_reason: $mounts_why"
	elif [ -z "$mounts_device" ] || [ "$mounts_device" != "$disk_root_device" ]; then
		kexec_reason="$kexec_reason, which is on ${mounts_device:-no filesystem of this disk}"
		kexec_reason="$kexec_reason and not in $disk_alone"
	else
		kexec_reason=''
		return 0
	fi
	return 1
}

# kexec_find VERB OPERAND...: sets $kexec_kernel, $kexec_initrd and $kexec_arguments from what the installed boot loader
# would start; $kexec_files: the operands of both files. Their paths have no links.
kexec_find() {
	kexec_entry=$(sledc bootentry "root=$disk_root" ${disk_boot:+"boot=$disk_boot"} ${disk_esp:+"esp=$disk_esp"} \
		"firmware=$(kexec_firmware)" 2>&1) || { kexec_reason=": $kexec_entry" && return 1; }
	case $kexec_entry in
	'loader=systemd-boot '*)
		if kexec_chosen_elsewhere; then
			kexec_reason=": the firmware has $kexec_variable, in which systemd-boot keeps an entry"
			return 1
		fi
		;;
	esac
	set -f
	set -- "$(words_value append "$@")" bootentry $kexec_entry
	set +f
	kexec_append=$1
	shift
	kexec_files=$(words_pick 'kernel initrd' "$@")
	kexec_kernel=$(words_value kernel "$@") && kexec_initrd=$(words_value initrd "$@") &&
		kexec_arguments=$(words_value arguments "$@")${kexec_append:+ $kexec_append} || return
	kexec_is_there "$(words_value device "$@")" && kexec_is_alone || return
	echo "kernel $kexec_kernel, initrd ${kexec_initrd:-none}, arguments $kexec_arguments"
}

step_kexec() {
	exec 3>&1 >&2 # 3: see plan_detail
	kexec_disk=$(disk_of_step "$@")
	disk_narrow "$@"
	# The root of a system on LUKS, md or ZFS cannot be mounted, nor one on LVM without lvm2. Its /boot is enough.
	disk_mount_root "$kexec_disk" || echo "the kernel can only come from /boot" >&2
	disk_mount_boot "$kexec_disk"
	disk_mount_esp "$kexec_disk"
	kexec_method=kexec kexec_reason='' kexec_code=3
	if ! kexec_find "$@" || ! watchdog_choose "$(words_value watchdog "$@")" ||
		! kexec_load "$watchdog_argument sled.start=kexec"; then
		kexec_method=reboot
		rm -f "$watchdog_chosen"
		echo "no kernel of $kexec_disk could be loaded$kexec_reason" >&2
		[ "$(words_value fallback "$@")" = reboot ] || exit "$((kexec_code == 5 ? 5 : 3))"
		plan_detail "reboot: no kernel could be loaded$kexec_reason"
	fi
	sync
	disk_release
	echo "way $kexec_method" >&3
	echo "$kexec_method" >"$ROOT/run/sled/jump"
}
