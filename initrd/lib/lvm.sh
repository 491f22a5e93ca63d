# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Logical volumes of LVM on the disk of a step. Each command names the only devices that it may open: a clone of the
# volume group on another disk has the same UUIDs, and may be taken in its place.

lvm_list='' lvm_groups='' lvm_volumes='' lvm_refused='' lvm_limit=${lvm_limit-60}

# lvm_members DISK: prints its physical volumes.
lvm_members() {
	for lvm_device in $(disk_partitions "$1"); do
		[ "$(sledc content "device=$lvm_device" 2>/dev/null)" != LVM2_member ] || echo "$lvm_device"
	done
}

# lvm_run COMMAND WORD...: runs one command of LVM on the devices of $lvm_list alone.
lvm_run() {
	lvm_command=$1
	shift
	DM_DISABLE_UDEV=1 LVM_SUPPRESS_FD_WARNINGS=1 \
		$MOCK timeout -k 5 "$lvm_limit" lvm "$lvm_command" --devices "$lvm_list" "$@"
}

# lvm_must WHAT COMMAND WORD...: the same. On a failure shows the output of LVM, then WHAT and why, and returns 1.
lvm_must() {
	lvm_what=$1 lvm_code=0
	shift
	lvm_output=$(lvm_run "$@" 2>&1) || lvm_code=$?
	[ "$lvm_code" != 0 ] || return 0
	echo "$lvm_output" >&2
	case $lvm_code in
	124 | 137 | 143) lvm_why="stopped after $lvm_limit s" ;;
	*) lvm_why=$(echo "$lvm_output" | sed -n 's/^ *//; /./h; $ { x; p; }') ;;
	esac
	echo "$lvm_what: lvm $1, code $lvm_code: $lvm_why" >&2
	return 1
}

# lvm_query COMMAND WORD...: prints a table without its heading; returns 1 if LVM failed.
lvm_query() {
	lvm_query_command=$1
	shift
	lvm_run "$lvm_query_command" --noheadings "$@" 2>"$ROOT/run/sled/lvm" && return 0
	cat "$ROOT/run/sled/lvm" >&2
	return 1
}

# lvm_judge: reads lines "NAME MISSING" of the volume groups; prints "NAME ok", or NAME and why it is not activated.
lvm_judge() {
	awk '
		NF { count[$1]++; missing[$1] += $2 }
		END {
			for (name in count)
				if (count[name] > 1) print name, "has the same name as another one"
				else if (missing[name] > 0) print name, "has physical volumes on other disks"
				else print name, "ok"
		}' | sort
}

# lvm_activate: sets $lvm_groups, and $lvm_refused to why others stay inactive. A group of which not all can be
# activated is kept: its root may be among the rest.
lvm_activate() {
	lvm_refused=
	lvm_table=$(lvm_query vgs -o vg_name,vg_missing_pv_count) || lvm_refused='; not all volume groups can be read'
	lvm_judged=$(echo "$lvm_table" | lvm_judge)
	lvm_refused=$(echo "$lvm_judged" | sed -n '/ ok$/d; s/^./; volume group &/p' | tr -d '\n')$lvm_refused
	for lvm_group in $(echo "$lvm_judged" | sed -n 's/ ok$//p'); do
		lvm_groups="$lvm_groups $lvm_group"
		lvm_must "volume group $lvm_group cannot be activated whole" vgchange -ay --poll n "$lvm_group" || :
	done
	if [ -n "$lvm_groups" ]; then lvm_find_volumes; fi
}

# Sets $lvm_volumes: the devices that are active.
lvm_find_volumes() {
	lvm_table=$(lvm_query lvs -o lv_dm_path,lv_active,vg_name,lv_name $lvm_groups) || return 0
	lvm_volumes=$(echo "$lvm_table" | awk '$2 == "active" { print $1 }' | tr '\n' ' ')
}

# lvm_path NAME: prints the device of an active volume that is named /dev/GROUP/VOLUME; any other name as it is.
lvm_path() {
	printf '%s\n' "${lvm_table-}" | awk -v name="$1" '
		$2 == "active" && "/dev/" $3 "/" $4 == name { name = $1 }
		END { print name }'
}

# lvm_open DISK: activates what lies on this disk alone, for disk_release to deactivate. Returns 1 if the disk has no
# physical volume; 2, with the reason, in a Sled system without lvm2.
lvm_open() {
	lvm_list=$(lvm_members "$1" | paste -s -d , -)
	[ -n "$lvm_list" ] || return 1
	if [ ! -e "$ROOT/sbin/lvm" ]; then
		echo "$lvm_list is a physical volume of LVM, and this Sled system has no lvm2:" \
			"boot the flavour generic, or bind with configure: none" >&2
		return 2
	fi
	$MOCK modprobe -q dm-mod || :
	lvm_activate
}

# lvm_has DEVICE: whether it is an active volume of the disk.
lvm_has() { case " $lvm_volumes" in *" $1 "*) ;; *) return 1 ;; esac }

# lvm_grow: lets the volume of the root fill its volume group, which fills the partitions that it is on.
lvm_grow() {
	# shellcheck disable=SC2046 # the fields of the line
	set -- $(echo "$lvm_table" | awk -v root="$disk_root_device" '$1 == root { print $3, $4 }')
	for lvm_device in $(lvm_query pvs -o pv_name -S "vg_name=$1"); do
		lvm_must "physical volume $lvm_device cannot be grown" pvresize "$lvm_device" || return 1
	done
	lvm_free=$(lvm_query vgs -o vg_free_count "$1") || return 1
	[ "$((lvm_free))" != 0 ] || return 0
	lvm_must "volume $1/$2 of the root cannot be grown" lvextend -l +100%FREE "$1/$2" || return 1
	echo "volume $1/$2 of the root has grown by $((lvm_free)) extents"
}

# Without a word if it works: what is printed last is the reason of a step that fails.
lvm_close() {
	[ -n "$lvm_groups" ] || return 0
	lvm_closing=$lvm_groups
	lvm_forget
	lvm_must "volume group$lvm_closing cannot be deactivated" vgchange -an $lvm_closing
}

lvm_forget() { lvm_groups='' lvm_volumes=''; }
