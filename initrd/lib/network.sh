# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Configures the interface that the node booted from.

# Sets $network_mac, which identifies the node to the servers, and $network_wanted, the MAC of the interface to use.
network_identify() {
	network_wanted=$(words_argument BOOTIF | tr 'A-F-' 'a-f:')
	network_wanted=${network_wanted#??:} # the hardware type
	network_mac=$(words_argument sled.mac | tr 'A-F-' 'a-f:')
	network_mac=${network_mac:-$network_wanted} network_wanted=${network_wanted:-$network_mac}
	[ -n "$network_mac" ] || console_say "neither sled.mac nor BOOTIF names an interface"
}

# Sets $network_interface. Only hardware counts: a bridge or VLAN may show the same MAC.
network_find() {
	for network_path in "$ROOT"/sys/class/net/*; do
		network_interface=${network_path##*/}
		if [ -e "$network_path/device" ] && [ "$(cat "$network_path/address")" = "$network_wanted" ]; then
			return 0
		fi
	done
	return 1
}

network_has_carrier() { [ "$(cat "$ROOT/sys/class/net/$network_interface/carrier" 2>/dev/null)" = 1 ]; }

# The client stays in the background and renews the lease: an idle node waits for days.
network_lease() {
	$MOCK udhcpc -i "$network_interface" -O staticroutes -O mtu -n -t 10 -T 3 -p "$ROOT/run/udhcpc.pid" \
		-s "$ROOT/lib/sled/lease" >/dev/null 2>&1
}

network_up() {
	network_identify
	[ -n "$network_mac" ] || return 1
	wait_for 60 "an interface with MAC $network_wanted" network_find || return 1
	$MOCK ip link set lo up
	$MOCK ip link set "$network_interface" up
	wait_for 60 "a carrier on $network_interface" network_has_carrier || return 1
	wait_for 120 "a DHCP lease on $network_interface" network_lease || return 1
	console_say "network: $network_interface, MAC $network_wanted," \
		"$($MOCK ip -4 -o address show dev "$network_interface" | awk '{print $4}')"
}
