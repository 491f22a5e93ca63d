# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Step configure: adapts the written image, or the fetched root, to this node.

step_configure() {
	exec 3>&1 >&2 # 3: see plan_detail
	if [ -z "$(words_value disk "$@")" ]; then configure_memory "$@"; return; fi
	configure_disk=$(disk_of_step "$@")
	disk_narrow "$@"
	[ "$(words_value system "$@")" != keep ] || { configure_boot_order "$@"; configure_stamp "$@"; return; }
	grow_table "$@"
	disk_mount_root "$configure_disk" || exit $?
	grow_root "$configure_disk"
	[ -n "$grow_fixed" ] || grow_volume
	disk_make_writable
	mounts_open "$configure_disk"
	configure_identity "$@"
	layout_mount
	grow_filesystems
	configure_seed
	configure_boot_order "$@"
	sync
	disk_release
	configure_stamp "$@"
}

# The fetched root: what it mounts from disks is its own business.
configure_memory() {
	memory_open
	: >"$mounts_covered"
	configure_identity "$@"
	configure_seed
}

configure_identity() {
	configure_hostname=$(words_value hostname "$@")
	[ -z "$configure_hostname" ] || identity_name
	identity_machine_id
	sshd_read
	identity_host_keys
	identity_state
}

configure_seed() {
	seed_get
	netconfig_set
	seed_authorize_root
	seed_authorize_user
	seed_cloud_init
	seed_operational
	rm -rf "$seed_folder"
}

# configure_stamp OPERAND...: last, so that a disk with a stamp is complete.
configure_stamp() {
	[ -n "$(words_value stamp "$@")" ] || return 0
	# shellcheck disable=SC2046 # operands
	configure_said=$(sledc stamp $(words_pick 'disk keep stamp' "$@")) || exit
	[ -z "$configure_said" ] || plan_detail "${configure_said#detail }"
}

configure_boot_order() { bootorder_set "$configure_disk" "$(words_value bootorder "$@")"; }

# configure_put MODE FILE: writes standard input to FILE of the installed system, atomically, in place of what has that
# name.
configure_put() { sledc tree put "$disk_root" "$2" "$1"; }

# configure_unit NAME [TARGET]: writes a systemd unit from standard input and enables it, even if the vendor's preset
# disables it.
configure_unit() {
	configure_wants=/etc/systemd/system/${2:-multi-user}.target.wants
	configure_put 0644 "/etc/systemd/system/$1"
	sledc tree link "$disk_root" "$configure_wants/$1" "../$1"
	echo 'enable sled-*.service' | configure_put 0644 /etc/systemd/system-preset/10-sled.preset
}

# configure_has FILE...: whether the installed system has one of them.
configure_has() {
	configure_found=$(sledc tree files "$disk_root" "$@") || exit
	[ -n "$configure_found" ]
}

# configure_text FILE...: prints all of them, an empty line after each. What cannot be read ends the step.
configure_text() {
	configure_found=$(sledc tree files "$disk_root" "$@") || exit
	[ -n "$configure_found" ] || return 0
	printf '%s\n' "$configure_found" | while IFS= read -r configure_file; do
		sledc tree get "$disk_root" "$configure_file" || exit
		echo
	done
}

# configure_says PATTERN FILE...: whether a line of one of them matches.
configure_says() {
	configure_pattern=$1
	shift
	configure_lines=$(configure_text "$@") || exit
	printf '%s\n' "$configure_lines" | grep -q -e "$configure_pattern"
}

# configure_argument WORD: whether the image starts its kernel with it.
configure_argument() {
	configure_says "^[^#]*\\(^\\|[\" ']\\)$1\\([\" ']\\|\$\\)" /etc/default/grub '/etc/default/grub.d/*.cfg' \
		/etc/kernel/cmdline '/boot/loader/entries/*.conf'
}

configure_has_systemd() { configure_has /usr/lib/systemd/systemd /lib/systemd/systemd; }

# One that is switched off counts as none.
configure_has_cloud_init() {
	configure_has /usr/bin/cloud-init && ! configure_has /etc/cloud/cloud-init.disabled &&
		! configure_argument cloud-init=disabled
}
