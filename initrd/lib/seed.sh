# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What sledd hands out for this node alone: keys, user data, and the token to confirm with (contract/report.md, seed).

seed=$ROOT/run/sled/seed

get_seed() {
	rm -rf "$seed"
	(umask 077 && mkdir -p "$seed")
	sledc seed $node "out=$seed/seed.tar"
	tar -x -f "$seed/seed.tar" -C "$seed"
}

# authorize HOME OWNER:GROUP: adds the keys that are not there yet.
authorize() {
	[ -s "$seed/authorized_keys" ] || return 0
	keys=$1/.ssh/authorized_keys
	{ cat "$root$keys" 2>/dev/null || :; cat "$seed/authorized_keys"; } | awk 'NF && !seen[$0]++' | put 0600 "$keys"
	chmod 0700 "$root$1/.ssh"
	$MOCK chown "$2" "$root$1/.ssh" "$root$keys"
}

authorize_root() { authorize /root 0:0; }

# The user that installers make first has number 1000; cloud-init cares for its own.
authorize_user() {
	user=$(awk -F : '$3 == 1000 { print $6, $3 ":" $4 }' "$root/etc/passwd")
	if has_cloud_init || [ -z "$user" ]; then return 0; fi
	authorize "${user% *}" "${user##* }"
}

seed_cloud_init() {
	has_cloud_init || return 0
	[ -e "$seed/user-data" ] || echo '#cloud-config' >"$seed/user-data"
	for file in meta-data user-data; do
		put 0600 "/var/lib/cloud/seed/nocloud/$file" <"$seed/$file"
	done
}

# The system says itself that it runs, with a program and a one-time token that it is given here.
confirm_operational() {
	if ! has_systemd; then
		echo "no systemd: this system will not confirm that it is operational" >&2
		return 0
	fi
	put 0755 /usr/lib/sled/sledc <"$ROOT/bin/sledc"
	put 0644 /etc/sled/ca.crt <"$ROOT/etc/sled/ca.crt"
	put 0600 /etc/sled/operational <"$seed/operational"
	put 0755 /usr/lib/sled/operational <"$ROOT/lib/sled/operational"
	unit sled-operational.service <"$ROOT/lib/sled/sled-operational.service"
	put 0755 /usr/lib/sled/watchdog <"$ROOT/lib/sled/watchdog"
	unit sled-watchdog.service sysinit <"$ROOT/lib/sled/sled-watchdog.service"
}
