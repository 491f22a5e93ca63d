# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The seed, which sledd issues for this node: keys, user data, and the token that confirms (contract/report.md, seed).

seed_folder=$ROOT/run/sled/seed

seed_get() {
	rm -rf "$seed_folder"
	(umask 077 && mkdir -p "$seed_folder")
	sledc seed $node "out=$seed_folder/seed.tar" >&3 # 3: see plan_detail
	for seed_file in authorized_keys meta-data user-data operational network; do seed_unpack "$seed_file"; done
}

# seed_unpack NAME: by its content alone, so that no member is a link or a device.
seed_unpack() {
	tar -t -f "$seed_folder/seed.tar" | grep -q -x "$1" || return 0
	tar -x -O -f "$seed_folder/seed.tar" "$1" >"$seed_folder/$1"
}

# seed_authorize USER HOME UID GID: adds the keys that are missing, where the SSH server looks for them.
seed_authorize() {
	[ -s "$seed_folder/authorized_keys" ] || return 0
	seed_keys=$(sshd_keys_file "$2" "$1" "$3")
	seed_refused=$(sshd_refuses "$1") || exit
	seed_refused=$(printf '%s\n' "$seed_refused" | paste -s -d ';' -)
	if [ -z "$seed_keys" ]; then seed_refused='AuthorizedKeysFile none'; fi
	[ -z "$seed_refused" ] || plan_detail "keys of $1: sshd of the image does not take them ($seed_refused)"
	case $seed_keys in
	'') return ;;
	"$2"/*) seed_owner=$3:$4 seed_modes='0700 0600' ;;
	*) seed_owner=0:0 seed_modes='0755 0644' ;; # sshd reads it as the user
	esac
	seed_covered=$(mounts_cover "$seed_keys")
	case $1:$seed_covered in
	*:) ;;
	root:*) mounts_require "$seed_keys" ;;
	*)
		plan_detail "keys of $1 are not added: $seed_covered"
		return
		;;
	esac
	seed_known=$(sledc tree get "$disk_root" "$seed_keys") || exit
	seed_found=$(sledc tree names "$disk_root" "${seed_keys%/*}")
	case ${seed_keys%/*}:$seed_found in
	*/.ssh:* | *:) sledc tree folder "$disk_root" "${seed_keys%/*}" "${seed_modes% *}" "$seed_owner" ;;
	esac # another that is there has its mode from its owner
	{ printf '%s\n' "$seed_known"; cat "$seed_folder/authorized_keys"; } | awk 'NF && !seen[$0]++' |
		sledc tree put "$disk_root" "$seed_keys" "${seed_modes#* }" "$seed_owner"
}

seed_authorize_root() { seed_authorize root /root 0 0; }

# The first user of an installer has number 1000; cloud-init configures its users itself.
seed_authorize_user() {
	seed_users=$(sledc tree get "$disk_root" /etc/passwd)
	seed_user=$(printf '%s\n' "$seed_users" |
		awk -F : '
			$3 == "1000" && length($4) < 10 && $4 ~ /^[0-9]+$/ && $6 ~ /^\// && ($1 $6) !~ /[[:cntrl:] ]/ {
				print $1, $6, $3, $4
				exit
			}')
	if configure_has_cloud_init || [ -z "$seed_user" ]; then return 0; fi
	# shellcheck disable=SC2046,SC2086 # its fields
	(set -f && seed_authorize $seed_user)
}

# cloud-init looks for the seed wherever the image was made to look, and its own settings are read last.
seed_cloud_init() {
	if ! configure_has_cloud_init; then
		[ ! -e "$seed_folder/user-data" ] ||
			plan_detail "user data: the image has no cloud-init that is switched on: they have no effect"
		return 0
	fi
	mounts_require /var/lib/cloud/seed
	[ -e "$seed_folder/user-data" ] || echo '#cloud-config' >"$seed_folder/user-data"
	for seed_file in meta-data user-data; do
		configure_put 0600 "/var/lib/cloud/seed/nocloud/$seed_file" <"$seed_folder/$seed_file"
	done
	configure_put 0644 /etc/cloud/cloud.cfg.d/zz-sled.cfg <<-'END'
		# Written by Sled: read the seed of the boot server, and keep the host key that it knows.
		datasource_list: [NoCloud, None]
		ssh_deletekeys: false
		ssh_genkeytypes: []
	END
	! configure_says '^ *policy: *disabled' /etc/cloud/ds-identify.cfg ||
		plan_detail 'user data: cloud-init of the image looks nowhere (policy of /etc/cloud/ds-identify.cfg)'
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
	sledc tree remove "$disk_root" /etc/sled/keys # a captured image may have those of another node
	[ ! -s "$seed_folder/authorized_keys" ] || configure_put 0600 /etc/sled/keys <"$seed_folder/authorized_keys"
	configure_put 0755 /usr/lib/sled/operational <"$ROOT/lib/sled/operational"
	configure_unit sled-operational.service <"$ROOT/lib/sled/sled-operational.service"
	configure_put 0755 /usr/lib/sled/watchdog <"$ROOT/lib/sled/watchdog"
	configure_unit sled-watchdog.service sysinit <"$ROOT/lib/sled/sled-watchdog.service"
}
