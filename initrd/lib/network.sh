# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Configures the interface that the node booted from, or the one that sled.net describes (contract/kernel-arguments.md).

# Sets $network_mac, which identifies the node to the servers, and $network_wanted, the MAC of the interface to use.
# Both are empty if the kernel command line names none.
network_identify() {
	network_wanted=$(words_argument BOOTIF | tr 'A-F-' 'a-f:')
	network_wanted=${network_wanted#??:} # the hardware type
	network_mac=$(words_argument sled.mac | tr 'A-F-' 'a-f:')
	network_mac=${network_mac:-$network_wanted} network_wanted=${network_wanted:-$network_mac}
}

# Sets $network_addresses, $network_gateways, $network_dns and $network_mtu from sled.net.
network_words() {
	network_addresses='' network_gateways='' network_dns='' network_mtu=''
	for network_word in $(words_argument sled.net | tr , ' '); do
		network_value=${network_word#*=}
		case ${network_word%%=*}:$network_value in
		address:*/*) network_addresses="$network_addresses $network_value" ;;
		gateway:?*) network_gateways="$network_gateways $network_value" ;;
		dns:?*) network_dns="$network_dns $network_value" ;;
		mtu:[0-9]*) network_mtu=$network_value ;;
		*)
			console_say "sled.net: \"$network_word\" is none of address=A/N gateway=A dns=A mtu=N"
			return 1
			;;
		esac
	done
	[ -n "$network_addresses" ] || [ -z "$network_gateways$network_dns" ] || {
		console_say "sled.net: a gateway and DNS servers need an address; without one, all three are from DHCP"
		return 1
	}
}

# Base URLs of sledd, joined by a comma.
network_servers() {
	network_urls=$(words_argument sled.servers)
	[ -n "$network_urls" ] || network_urls=$(paste -s -d , "$ROOT/etc/sled/servers" 2>/dev/null) || :
	echo "$network_urls"
}

# Returns whether one of the servers accepts a connection.
network_reaches() {
	for network_url in $(network_servers | tr , ' '); do
		case $network_url in https:*) network_port=443 ;; *) network_port=80 ;; esac
		network_host=${network_url#*://}
		network_host=${network_host%%/*}
		case $network_host in
		*]:* | [!\[]*:*) network_port=${network_host##*:} network_host=${network_host%:*} ;;
		esac
		network_host=${network_host#\[}
		! $MOCK nc -w 3 "${network_host%]}" "$network_port" </dev/null >/dev/null 2>&1 || return 0
	done
	return 1
}

# network_interfaces: their names. Only hardware counts: a bridge or VLAN may show the same MAC.
network_interfaces() {
	for network_path in "$ROOT"/sys/class/net/*; do
		[ ! -e "$network_path/device" ] || echo "${network_path##*/}"
	done
}

# Sets $network_interface.
network_find() {
	for network_interface in $(network_interfaces); do
		[ "$(cat "$ROOT/sys/class/net/$network_interface/address")" != "$network_wanted" ] || return 0
	done
	return 1
}

network_has_carrier() { [ "$(cat "$ROOT/sys/class/net/$network_interface/carrier" 2>/dev/null)" = 1 ]; }

# Returns whether a router has advertised an IPv6 prefix and itself; the kernel takes both.
network_advertised() {
	$MOCK ip -6 -o address show dev "$network_interface" scope global | grep -q . &&
		$MOCK ip -6 route show default dev "$network_interface" | grep -q .
}

# network_lease TRIES: the client stays in the background and renews the lease, because an idle node waits for days.
# Where there is IPv6, it may also wait there for its first lease.
network_lease() {
	if network_advertised; then network_wait=-b; else network_wait=-n; fi
	$MOCK udhcpc -i "$network_interface" -O staticroutes -O mtu "$network_wait" -t "$1" -T 3 \
		-p "$ROOT/run/udhcpc.pid" -s "$ROOT/lib/sled/lease" >/dev/null 2>&1
}

# The addresses of sled.net, and its gateways as they are: a /32 has none in its subnet.
network_static() {
	echo 0 >"$ROOT/proc/sys/net/ipv6/conf/$network_interface/accept_dad" 2>/dev/null || :
	for network_value in $network_addresses; do
		$MOCK ip address replace "$network_value" dev "$network_interface" || return 1
	done
	for network_value in $network_gateways; do
		case $network_value in *:*) network_family=-6 ;; *) network_family=-4 ;; esac
		$MOCK ip "$network_family" route replace default via "$network_value" dev "$network_interface" onlink ||
			return 1
	done
	for network_value in $network_dns; do echo "nameserver $network_value"; done >"$ROOT/etc/resolv.conf"
}

# network_configure TRIES
network_configure() {
	if [ -n "$network_addresses" ]; then network_static; else network_lease "$1"; fi || return 1
	[ -z "$network_mtu" ] || $MOCK ip link set "$network_interface" mtu "$network_mtu" ||
		console_say "sled.net: $network_interface does not take the MTU $network_mtu"
}

# network_address: prints the IPv4 address of this node.
network_address() { $MOCK ip -4 -o address show scope global | awk '{ sub("/.*", "", $4); print $4; exit }'; }

# Leaves $network_interface as it was.
network_release() {
	[ ! -s "$ROOT/run/udhcpc.pid" ] || $MOCK kill "$(cat "$ROOT/run/udhcpc.pid")" || :
	rm -f "$ROOT/run/udhcpc.pid"
	$MOCK ip -4 address flush dev "$network_interface"
	$MOCK ip -6 address flush dev "$network_interface" scope global
	$MOCK ip -6 route del default dev "$network_interface" 2>/dev/null || :
}

# Tries each interface with a carrier until one leads to a server. Its MAC identifies the node.
network_try() {
	for network_interface in $(network_interfaces); do $MOCK ip link set "$network_interface" up; done
	for network_interface in $(network_interfaces); do
		network_has_carrier || continue
		if network_configure 2 && network_reaches; then
			network_mac=$(cat "$ROOT/sys/class/net/$network_interface/address") network_wanted=$network_mac
			return 0
		fi
		network_release
	done
	return 1
}

network_up() {
	network_identify
	network_words || return 1
	$MOCK ip link set lo up
	if [ -z "$network_mac" ]; then
		wait_for 120 "a server behind any interface: neither sled.mac nor BOOTIF names one" network_try ||
			return 1
	else
		wait_for 60 "an interface with MAC $network_wanted" network_find || return 1
		$MOCK ip link set "$network_interface" up
		wait_for 60 "a carrier on $network_interface" network_has_carrier || return 1
		wait_for 120 "${network_addresses:-a DHCP lease} on $network_interface" network_configure 3 || return 1
	fi
	network_addresses=$($MOCK ip -o address show dev "$network_interface" scope global | awk '{print $4}')
	console_say "network: $network_interface, MAC $network_wanted, $(echo "$network_addresses" | paste -s -d ' ' -)"
}
