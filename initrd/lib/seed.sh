# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The seed, which sledd issues for this node: keys, user data, and the token that confirms (contract/report.md, seed).

seed_folder=$ROOT/run/sled/seed

seed_get() {
	rm -rf "$seed_folder"
	(umask 077 && mkdir -p "$seed_folder")
	sledc seed $node "out=$seed_folder/seed.tar" >&3 # 3: see plan_detail
	for seed_file in authorized_keys meta-data user-data operational; do seed_unpack "$seed_file"; done
}

# seed_unpack NAME: by its content alone, so that no member is a link or a device.
seed_unpack() {
	tar -t -f "$seed_folder/seed.tar" | grep -q -x "$1" || return 0
	tar -x -O -f "$seed_folder/seed.tar" "$1" >"$seed_folder/$1"
}

# seed_authorize HOME UID:GID: adds the keys that are missing.
seed_authorize() {
	[ -s "$seed_folder/authorized_keys" ] || return 0
	seed_keys=$1/.ssh/authorized_keys
	seed_known=$(sledc tree get "$disk_root" "$seed_keys")
	sledc tree folder "$disk_root" "$1/.ssh" 0700 "$2"
	{ printf '%s\n' "$seed_known"; cat "$seed_folder/authorized_keys"; } | awk 'NF && !seen[$0]++' |
		sledc tree put "$disk_root" "$seed_keys" 0600 "$2"
}

seed_authorize_root() { seed_authorize /root 0:0; }

# The first user of an installer has number 1000; cloud-init configures its users itself.
seed_authorize_user() {
	seed_users=$(sledc tree get "$disk_root" /etc/passwd)
	seed_user=$(printf '%s\n' "$seed_users" |
		awk -F : '$3 == "1000" && length($4) < 10 && $4 ~ /^[0-9]+$/ && $6 !~ /[[:cntrl:]]/ {
			print $6, $3 ":" $4
			exit
		}')
	if configure_has_cloud_init || [ -z "$seed_user" ]; then return 0; fi
	seed_authorize "${seed_user% *}" "${seed_user##* }"
}

seed_cloud_init() {
	configure_has_cloud_init || return 0
	[ -e "$seed_folder/user-data" ] || echo '#cloud-config' >"$seed_folder/user-data"
	for seed_file in meta-data user-data; do
		configure_put 0600 "/var/lib/cloud/seed/nocloud/$seed_file" <"$seed_folder/$seed_file"
	done
}

# The system itself reports that it runs, by a program and a one-time token that are installed here.
seed_operational() {
	if ! configure_has_systemd; then
		echo "the system has no systemd, so it cannot confirm that it is operational" >&2
		return 0
	fi
	configure_put 0755 /usr/lib/sled/sledc <"$ROOT/bin/sledc"
	configure_put 0644 /etc/sled/ca.crt <"$ROOT/etc/sled/ca.crt"
	configure_put 0600 /etc/sled/operational <"$seed_folder/operational"
	configure_put 0755 /usr/lib/sled/operational <"$ROOT/lib/sled/operational"
	configure_unit sled-operational.service <"$ROOT/lib/sled/sled-operational.service"
	configure_put 0755 /usr/lib/sled/watchdog <"$ROOT/lib/sled/watchdog"
	configure_unit sled-watchdog.service sysinit <"$ROOT/lib/sled/sled-watchdog.service"
}
