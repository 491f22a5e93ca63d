# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The interface that booted gets an address.

# Sets $mac, the node's name to the servers, and $wanted, the MAC of the interface to use.
identify() {
	wanted=$(argument BOOTIF | tr 'A-F-' 'a-f:')
	wanted=${wanted#??:} # the hardware type
	mac=$(argument sled.mac | tr 'A-F-' 'a-f:')
	mac=${mac:-$wanted} wanted=${wanted:-$mac}
	[ -n "$mac" ] || say "neither sled.mac nor BOOTIF names an interface"
}

# Sets $interface. Only hardware counts: a bridge or VLAN may show the same MAC.
find_interface() {
	for path in "$ROOT"/sys/class/net/*; do
		interface=${path##*/}
		if [ -e "$path/device" ] && [ "$(cat "$path/address")" = "$wanted" ]; then return 0; fi
	done
	return 1
}

has_carrier() { [ "$(cat "$ROOT/sys/class/net/$interface/carrier" 2>/dev/null)" = 1 ]; }

# The client stays in the background and renews the lease: an idle node waits for days.
lease() {
	$MOCK udhcpc -i "$interface" -n -t 10 -T 3 -p "$ROOT/run/udhcpc.pid" -s "$ROOT/lib/sled/lease" >/dev/null 2>&1
}

network_up() {
	identify
	[ -n "$mac" ] || return 1
	wait_for 60 "an interface with MAC $wanted" find_interface || return 1
	$MOCK ip link set lo up
	$MOCK ip link set "$interface" up
	wait_for 60 "a carrier on $interface" has_carrier || return 1
	wait_for 120 "a DHCP lease on $interface" lease || return 1
	say "network: $interface, MAC $wanted, $($MOCK ip -4 -o address show dev "$interface" | awk '{print $4}')"
}
