# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What /etc/fstab and the mount units of the installed system mount below its root: what is written there is written
# into that filesystem, because the system does not see the folder of the root below it. A filesystem is looked for on
# the disk of the step alone. One that is missing, or that this system cannot mount, is a covered folder: nothing can be
# written below it.

mounts_folder=$ROOT/run/sled/mount mounts_list=$ROOT/run/sled/mounts mounts_covered=$ROOT/run/sled/covered
mounts_needed='/etc/sled /etc/ssh /etc/systemd/system /usr/lib/sled'

# mounts_open DISK: mounts them for disk_release to unmount. Exits with 3 if one covers what each system needs.
mounts_open() {
	mounts_disk=$1 mounts_devices=$(disk_partitions "$1")
	: >"$mounts_covered"
	mounts_text=$(sledc tree get "$disk_root" /etc/fstab) || exit
	printf '%s\n' "$mounts_text" >"$mounts_list.fstab"
	mounts_text=$(mounts_units) || exit
	{ printf '%s\n' "$mounts_text" && layout_own "$mounts_list.fstab" && layout_lines; } |
		mounts_lines >"$mounts_list"
	if [ "$(wc -l <"$mounts_list")" -gt 128 ]; then
		echo "the image mounts more than 128 filesystems" >&2
		exit 3
	fi
	while read -r mounts_point mounts_spec mounts_type mounts_options <&4; do
		[ -z "$(mounts_cover "$mounts_point")" ] || continue
		mounts_why=
		mounts_one || mounts_hide
	done 4<"$mounts_list"
	for mounts_point in $mounts_needed; do mounts_require "$mounts_point"; done
}

# mounts_units: prints the mount units in /etc that are enabled, as lines of fstab. An automount has one of its name.
# That of /var is required by units of systemd itself.
mounts_units() {
	mounts_enabled='/etc/systemd/system/*.wants /etc/systemd/system/*.requires'
	# shellcheck disable=SC2046,SC2086 # patterns
	mounts_found=$(set -f && sledc tree names "$disk_root" $(printf '%s/*.automount\n' $mounts_enabled)) || exit
	# shellcheck disable=SC2046,SC2086 # patterns
	mounts_found=$(set -f && configure_text /etc/systemd/system/var.mount $(printf '%s/*.mount\n' $mounts_enabled) \
		$(printf '%s\n' $mounts_found | sed -n 's,.*/\(.*\)automount$,/etc/systemd/system/\1mount,p')) || exit
	printf '%s\n' "$mounts_found" | awk '
		function show() {
			if (value["What"] != "" && value["Where"] != "")
				print value["What"], value["Where"], value["Type"] == "" ? "auto" : value["Type"],
					value["Options"]
			split("", value)
		}
		/^\[/ { show(); inside = /^\[Mount\]/ }
		inside && match($0, /^[ \t]*(What|Where|Type|Options)[ \t]*=[ \t]*/) {
			name = substr($0, 1, RLENGTH)
			gsub(/[ \t=]/, "", name)
			value[name] = substr($0, RLENGTH + 1)
			sub(/[ \t\r]+$/, "", value[name])
			gsub(/[ \t]/, "_", value[name]) # no name here has any
		}
		END { show() }'
}

# mounts_lines: reads fstab, prints "POINT SPEC TYPE OPTIONS", a folder before those below it. The first of a folder
# counts.
mounts_lines() {
	awk '
		/^[ \t]*#/ || NF < 3 || $3 == "swap" || $2 !~ "^/[A-Za-z0-9@+:.,/_-]+$" { next }
		("," $4 ",") ~ /,noauto,/ && $4 !~ /x-systemd\.automount/ { next }
		{
			gsub(/\/\/+/, "/", $2)
			sub(/\/$/, "", $2)
			gsub(/"/, "", $1)
			if ($2 == "" || $2 ~ /^\/(dev|proc|run|sys|tmp)(\/|$)/ || seen[$2]++) next
			print $2, $1, $3, $4 == "" ? "defaults" : $4
		}' | sort -s -k 1,1
}

# mounts_one: mounts $mounts_spec at $mounts_point. Returns 1, and sets $mounts_why, if it cannot be done.
mounts_one() {
	case ,$mounts_options, in
	*,bind,* | *,rbind,*)
		mounts_place=$(sledc tree bind "$disk_root" "$mounts_spec" "$mounts_point") || mounts_failed || return
		disk_add "$mounts_place"
		return
		;;
	esac
	mounts_find "$(mounts_name "$mounts_spec")" || return
	mounts_subvolume=$(printf '%s\n' "$mounts_options" | tr , '\n' | sed -n '/^subvol\(id\)\{0,1\}=/p' |
		paste -s -d , -)
	for mounts_type in $mounts_types; do
		case $mounts_type in
		ext2 | ext3 | ext4) set -- ext4 rw ;;
		xfs) set -- xfs rw ;;
		btrfs) set -- btrfs "rw${mounts_subvolume:+,$mounts_subvolume}" ;;
		vfat) set -- vfat ro ;; # nothing is written there
		*) continue ;;
		esac
		mounts_put "$mounts_device" "$@" && return 0
		[ -z "$mounts_why" ] || return
	done
	mounts_why="$mounts_device ($(printf '%s' "$mounts_types" | tr '\n' ' ')) cannot be mounted here"
	return 1
}

# mounts_put DEVICE TYPE OPTIONS: mounts it at $mounts_point.
mounts_put() {
	mkdir -p "$mounts_folder"
	disk_mount "$1" "$mounts_folder" "$2" "$3" || return
	mounts_place=$(sledc tree attach "$disk_root" "$mounts_folder" "$mounts_point") || {
		mounts_failed
		disk_detach "$mounts_folder"
		return 1
	}
	disk_forget_one "$mounts_folder"
	disk_add "$mounts_place"
}

# What the tree does not allow, such as a mount point that is a file, the installed system cannot mount either.
mounts_failed() {
	[ $? = 3 ] || exit 1
	mounts_why="its mount point or what is mounted there is not a folder of the image"
	return 1
}

# mounts_hide: covers $mounts_point.
mounts_hide() {
	printf '%s %s\n' "$mounts_point" "$mounts_why" >>"$mounts_covered"
	echo "$mounts_point of the image is not mounted: $mounts_why" >&2
	mounts_put none tmpfs ro,size=4k || :
}

# mounts_name SPEC: prints it in the form of a tag, if it has one.
mounts_name() {
	printf '%s\n' "$1" | sed 's,^/dev/disk/by-uuid/,UUID=,; s,^/dev/disk/by-label/,LABEL=,
		s,^/dev/disk/by-partuuid/,PARTUUID=,; s,^/dev/disk/by-partlabel/,PARTLABEL=,'
}

# mounts_find NAME: sets $mounts_device to the only device of the disk that it means, and $mounts_types. The volumes of
# LVM are activated only if no partition is meant.
mounts_find() {
	mounts_search "$1" $mounts_devices $lvm_volumes || return
	if [ -z "$mounts_device" ] && [ -z "$lvm_groups" ] && lvm_open "$mounts_disk"; then
		mounts_search "$1" $lvm_volumes || return
	fi
	[ -n "$mounts_device" ] && return 0
	mounts_why="$1 names no known filesystem of this disk"
	return 1
}

# mounts_search NAME DEVICE...
mounts_search() {
	mounts_wanted=$1 mounts_device='' mounts_types=''
	shift
	for mounts_candidate; do
		if ! mounts_said=$(mounts_holds "$mounts_candidate" "$mounts_wanted"); then
			mounts_why="whether $mounts_candidate is $mounts_wanted cannot be read"
			return 1
		fi
		[ -n "$mounts_said" ] || continue
		if [ -n "$mounts_device" ]; then
			mounts_why="$mounts_wanted is on $mounts_device and on $mounts_candidate"
			return 1
		fi
		mounts_device=$mounts_candidate mounts_types=$mounts_said
	done
}

# mounts_holds DEVICE NAME: prints the filesystems of the device if it has that name.
mounts_holds() {
	case $2 in
	UUID=*) sledc filesystem "device=$1" "uuid=${2#*=}" ;;
	LABEL=*) sledc filesystem "device=$1" "label=${2#*=}" ;;
	PARTUUID=*) sledc filesystem "device=$1" "partuuid=${2#*=}" ;;
	PARTLABEL=*) sledc filesystem "device=$1" "partlabel=${2#*=}" ;;
	/dev/*) [ "$(lvm_path "$2")" != "$1" ] || sledc filesystem "device=$1" ;;
	esac
}

# mounts_cover PATH: prints the covered folder that the path is in, and why.
mounts_cover() {
	awk -v path="$1/" 'index(path, $1 "/") == 1 { $1 = $1 " of the image is not mounted:"; print; exit }' \
		"$mounts_covered"
}

# mounts_require PATH: exits with 3 if what is written there would not be seen.
mounts_require() {
	mounts_found=$(mounts_cover "$1")
	[ -n "$mounts_found" ] || return 0
	echo "$mounts_found; $1 cannot be written where the system looks" >&2
	exit 3
}
