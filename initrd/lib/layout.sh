# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Data disks (contract/plan.md): step layout makes their partitions, step configure has the installed system mount them.

layout_folder=$ROOT/run/sled/data # a line of fstab for each data disk of this plan, in a file with its name

step_layout() {
	exec 3>&1 >&2 # 3: see plan_detail
	layout_name=$(words_value name "$@")
	layout_found=$(sledc "$@")
	layout_type=$(words_value filesystem "$@")
	mkdir -p "$layout_folder"
	echo "PARTUUID=${layout_found#* } $(words_value mount "$@") ${layout_type:-ext4}" \
		"nofail,x-systemd.makefs,x-sled.data=$layout_name 0 2" >"$layout_folder/$layout_name"
	plan_detail "data disk $layout_name: partition ${layout_found#* } ${layout_found%% *}"
}

# Those of an earlier plan.
layout_forget() { rm -rf "$layout_folder"; }

# layout_has NAME FOLDER...: whether the installed system has the program.
layout_has() {
	layout_program=$1
	shift
	for layout_place; do
		if configure_has "$layout_place/$layout_program"; then return 0; fi
	done
	echo "the installed system has no $layout_program, which makes the filesystem of a data disk" >&2
	return 1
}

# layout_own FILE: the lines that the image has for itself. A captured image has those of another node too.
layout_own() { grep -v 'x-sled\.data=' "$1" || :; }

# layout_lines: prints the lines of this plan.
layout_lines() {
	for layout_file in "$layout_folder"/*; do
		[ ! -e "$layout_file" ] || cat "$layout_file"
	done
}

# layout_check FILE DEVICE POINT TYPE ...: whether the installed system, whose fstab is FILE, can make and mount it.
layout_check() {
	layout_has systemd-makefs /usr/lib/systemd /lib/systemd || return 1
	layout_has "mkfs.$4" /usr/sbin /sbin /usr/bin /bin || return 1
	if { mounts_units && layout_own "$1"; } |
		awk -v point="$3" '$1 !~ /^#/ && $2 == point { found = 1 } END { exit !found }'; then
		echo "the image mounts something else at $3, where a data disk belongs" >&2
		return 1
	fi
}

# layout_mount: changes the fstab of the installed system, whose own lines stay.
layout_mount() {
	layout_found=$(sledc tree names "$disk_root" /etc/fstab)
	sledc tree get "$disk_root" /etc/fstab >"$layout_folder.fstab"
	set -- "$layout_folder"/*
	if [ ! -e "$1" ]; then
		grep -q 'x-sled\.data=' "$layout_folder.fstab" || return 0
		set --
	fi
	if [ -n "$layout_found" ] && ! configure_has /etc/fstab; then
		echo "/etc/fstab of the image is a link to a file that does not exist: data disks cannot be mounted" >&2
		exit 3
	fi
	for layout_file; do
		# shellcheck disable=SC2046 # the fields of the line
		layout_check "$layout_folder.fstab" $(cat "$layout_file") || exit 3
	done
	layout_own "$layout_folder.fstab" >"$layout_folder.new"
	[ $# -eq 0 ] || cat "$@" >>"$layout_folder.new"
	configure_put 0644 /etc/fstab <"$layout_folder.new"
	rm -f "$layout_folder.fstab" "$layout_folder.new"
}
