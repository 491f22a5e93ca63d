# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Growth to the end of the disk: of the partition table and the last partition here, of filesystems by the installed
# system. Neither takes what the image keeps behind a partition or a filesystem (sledc write left that for sledc grow).

grow_last='' grow_fixed=''
grow_mark=/etc/growroot-disabled # for cloud-init, and growroot in an initramfs
grow_config=/etc/cloud/cloud.cfg.d/zz-sled-grow.cfg
grow_units='systemd-growfs-root.service systemd-growfs@.service systemd-repart.service extend-filesystems.service
	armbian-resize-filesystem.service rpi-resize.service'

# grow_table OPERAND...: the table and the last partition. Sets $grow_last to "NUMBER CONTENT" of the last partition, if
# there is room behind it, and $grow_fixed if nothing may grow in the installed system, as in one partition of a disk.
grow_table() {
	# Of what an image keeps behind the filesystem of a partition, nothing is known here.
	[ -z "$disk_alone" ] || { grow_fixed=fixed && return; }
	# shellcheck disable=SC2046 # operands
	grow_said=$(sledc grow $(words_pick 'disk keep grow' "$@")) || exit
	grow_last=$(echo "$grow_said" | sed -n 's/^last //p')
	grow_fixed=$(echo "$grow_said" | sed -n '/^fixed$/p')
	echo "$grow_said" | grep '^partition ' || :
	grow_detail=$(echo "$grow_said" | sed -n 's/^detail //p')
	[ -z "$grow_detail" ] || plan_detail "$grow_detail"
}

# grow_root DISK: reports a root that another partition keeps from growing.
grow_root() {
	grow_number=$ROOT/sys/class/block/${1##*/}/${disk_root_device##*/}/partition
	[ -e "$grow_number" ] || return 0
	grow_number=$(cat "$grow_number")
	if [ -z "$grow_last" ] || [ "$grow_number" = "${grow_last% *}" ]; then return 0; fi
	plan_detail "the root ($grow_number) has not grown: ${grow_last#* } (${grow_last% *}) is behind it"
}

# grow_volume: the volume of a root on LVM. Of it sledc grow knows nothing.
grow_volume() {
	lvm_has "$disk_root_device" || return 0
	grow_behind=$(sledc filesystem "device=$disk_root_device" behind=yes) || return 1
	[ -n "$grow_behind" ] || { lvm_grow; return; }
	grow_fixed=fixed
	plan_detail "the root (${disk_root_device##*/}) has not grown: bytes lie behind its filesystem at $grow_behind"
}

# grow_filesystems: permits or forbids the installed system to grow partitions and filesystems at its start. A captured
# image may have what was forbidden on another node.
grow_filesystems() {
	grow_marked=$(sledc tree get "$disk_root" "$grow_mark")
	case $grow_fixed$grow_marked in
	fixed*) grow_forbid ;;
	*Sled*) grow_permit ;;
	esac
}

grow_forbid() {
	echo 'Written by Sled: partitions and filesystems keep their size.' | configure_put 0644 "$grow_mark"
	grow_fstab 's/x-systemd\.growfs/x-sled.growfs/g'
	if configure_has_systemd; then
		for grow_unit in $grow_units; do
			sledc tree link "$disk_root" "/etc/systemd/system/$grow_unit" /dev/null
		done
	fi
	if configure_has_cloud_init; then
		printf '%s\n' 'growpart: {mode: "off"}' 'resize_rootfs: false' | configure_put 0644 "$grow_config"
	fi
}

grow_permit() {
	sledc tree remove "$disk_root" "$grow_mark" "$grow_config"
	for grow_unit in $grow_units; do sledc tree remove "$disk_root" "/etc/systemd/system/$grow_unit"; done
	grow_fstab 's/x-sled\.growfs/x-systemd.growfs/g'
}

# grow_fstab EXPRESSION: changes the lines of fstab that have an option to grow. Without systemd it is ignored.
grow_fstab() {
	grow_old=$(sledc tree get "$disk_root" /etc/fstab)
	grow_new=$(echo "$grow_old" | sed "$1")
	[ "$grow_old" = "$grow_new" ] || echo "$grow_new" | configure_put 0644 /etc/fstab
}
