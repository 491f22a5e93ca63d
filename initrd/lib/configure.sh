# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Step configure: makes the written copy of an image this node's own system.

step_configure() {
	exec 3>&1 >&2 # 3: see detail
	disk=$(the_disk "$@")
	# shellcheck disable=SC2046 # operands
	sledc grow $(pick 'disk keep grow' "$@")
	mount_root "$disk"
	$MOCK mount -o remount,rw "$root_device" "$root"
	hostname=$(value hostname "$@")
	[ -z "$hostname" ] || name_system
	fresh_machine_id
	fresh_host_keys
	get_seed
	authorize_root
	authorize_user
	seed_cloud_init
	confirm_operational
	set_boot_order "$disk" "$(value bootorder "$@")"
	rm -rf "$seed"
	sync
	release
}

# put MODE FILE: makes FILE of the installed system from standard input, whole or not at all. Never follows a link out of it.
put() {
	mkdir -p "$root${2%/*}"
	(umask 077 && cat >"$root$2.sled")
	chmod "$1" "$root$2.sled"
	mv -f "$root$2.sled" "$root$2"
}

# unit NAME [TARGET]: puts a systemd unit from standard input and enables it, also where the vendor's preset would disable it.
unit() {
	wants=/etc/systemd/system/${2:-multi-user}.target.wants
	put 0644 "/etc/systemd/system/$1"
	mkdir -p "$root$wants"
	ln -sf "../$1" "$root$wants/$1"
	echo 'enable sled-*.service' | put 0644 /etc/systemd/system-preset/10-sled.preset
}

has_systemd() { [ -e "$root/usr/lib/systemd/systemd" ] || [ -e "$root/lib/systemd/systemd" ]; }

has_cloud_init() { [ -e "$root/usr/bin/cloud-init" ]; }
