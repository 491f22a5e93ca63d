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

# network_word WORD: enters one word of sled.net. Returns 1 if it is unknown or malformed.
network_word() {
	network_value=${1#*=}
	case ${1%%=*}:$network_value in
	address:*/*) network_addresses="$network_addresses $network_value" ;;
	gateway:?*) network_gateways="$network_gateways $network_value" ;;
	dns:?*) network_dns="$network_dns $network_value" ;;
	mtu:[0-9]*) network_mtu=$network_value ;;
	vlan:[1-9] | vlan:[1-9][0-9] | vlan:[1-9][0-9][0-9] | vlan:[1-3][0-9][0-9][0-9] | vlan:40[0-8][0-9] | \
		vlan:409[0-4])
		[ -z "$network_vlan" ] && network_vlan=$network_value
		;;
	bond:802.3ad | bond:active-backup) [ -z "$network_bond" ] && network_bond=$network_value ;;
	port:??:??:??:??:??:??) network_ports="$network_ports $(echo "$network_value" | tr A-F a-f)" ;;
	*) return 1 ;;
	esac
}

# Sets the words of sled.net: $network_addresses, $network_gateways, $network_dns, $network_mtu, $network_vlan,
# $network_bond, $network_ports.
network_words() {
	network_addresses='' network_gateways='' network_dns='' network_mtu=''
	network_vlan='' network_bond='' network_ports=''
	for network_word in $(words_argument sled.net | tr , ' '); do
		network_word "$network_word" || {
			console_say "sled.net: \"$network_word\" is none of address=A/N gateway=A dns=A mtu=N" \
				"port=MAC, vlan=1-4094 once, bond=802.3ad or bond=active-backup once"
			return 1
		}
	done
	[ -n "$network_addresses" ] || [ -z "$network_gateways$network_dns" ] || {
		console_say "sled.net: a gateway and DNS servers need an address; without one, all three are from DHCP"
		return 1
	}
	[ -n "$network_bond" ] || [ -z "$network_ports" ] || {
		console_say "sled.net: a port needs a bond: bond=802.3ad or bond=active-backup"
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

# network_find MAC: prints the interface that has it. Returns 1 if there is none.
network_find() {
	for network_path in $(network_interfaces); do
		[ "$(cat "$ROOT/sys/class/net/$network_path/address")" != "$1" ] || { echo "$network_path" && return; }
	done
	return 1
}

# Prints the interfaces that the Sled system may use, the ports of its bond if it has one.
network_candidates() {
	if [ -z "$network_ports" ]; then network_interfaces; fi
	for network_value in $network_ports; do network_find "$network_value" || :; done
}

# Returns whether the machine has an interface for each MAC of $network_named.
network_is_complete() {
	for network_value in $network_named; do network_find "$network_value" >/dev/null || return 1; done
}

network_has_carrier() { [ "$(cat "$ROOT/sys/class/net/$network_interface/carrier" 2>/dev/null)" = 1 ]; }

# network_bind NIC: makes the bond, with NIC as its first port if that is one: a bond has the MAC of its first port.
network_bind() {
	network_ordered=$(network_candidates | grep -x -e "$1" || :; network_candidates | grep -v -x -e "$1" || :)
	network_settings=$ROOT/sys/class/net/$network_interface/bonding
	$MOCK modprobe -q bonding max_bonds=0
	$MOCK ip link add "$network_interface" type bond || return 1
	echo "$network_bond" >"$network_settings/mode"
	echo 100 >"$network_settings/miimon" # milliseconds; without it, a port that is down is never left out
	[ "$network_bond" != 802.3ad ] || echo fast >"$network_settings/lacp_rate"
	for network_port in $network_ordered; do
		$MOCK ip link set "$network_port" down # as one that is up is refused
		echo "+$network_port" >"$network_settings/slaves"
	done
}

# network_stack NIC: sets $network_base, which is NIC or the bond, and $network_interface, which is on top and may have
# a tag. Both are up.
network_stack() {
	network_base=$1 network_interface=$1
	if [ -n "$network_bond" ]; then
		network_base=bond0 network_interface=bond0
		network_bind "$1" || return 1
	fi
	$MOCK ip link set "$network_base" up
	[ -n "$network_vlan" ] || return 0
	network_interface=vlan$network_vlan
	$MOCK modprobe -q 8021q
	$MOCK ip link add link "$network_base" name "$network_interface" type vlan id "$network_vlan" || return 1
	$MOCK ip link set "$network_interface" up
}

# Removes what network_stack has made.
network_unstack() {
	[ "$network_interface" = "$network_base" ] || $MOCK ip link del "$network_interface" || :
	[ "$network_base" != bond0 ] || $MOCK ip link del bond0 || :
}

# network_address: prints the IPv4 address of this node.
network_address() { $MOCK ip -4 -o address show scope global | awk '{ sub("/.*", "", $4); print $4; exit }'; }

network_has_address() { network_address | grep -q .; }

# network_lease SECONDS: dhcpcd stays in the background from the first address on, and renews it, because an idle node
# waits for days. Where IPv6 is faster, IPv4 has three more seconds, unless a server has an address of IPv6.
network_lease() {
	$MOCK dhcpcd -q -t "$1" -f "$ROOT/lib/sled/dhcpcd.conf" -c "$ROOT/lib/sled/lease" -e "ROOT=$ROOT" \
		"$network_interface" >/dev/null 2>&1 || return 1
	case $(network_servers) in *://\[*) return 0 ;; esac
	network_has_address || (wait_for 3 "an IPv4 address on $network_interface" network_has_address) || :
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

# network_configure SECONDS
network_configure() {
	if [ -n "$network_addresses" ]; then network_static; else network_lease "$1"; fi || return 1
	[ -n "$network_mtu" ] || return 0
	for network_value in "$network_base" "$network_interface"; do # a tag takes no more than what is below it
		$MOCK ip link set "$network_value" mtu "$network_mtu" ||
			console_say "sled.net: $network_value does not take the MTU $network_mtu"
	done
}

# Leaves $network_interface as it was.
network_release() {
	[ -n "$network_addresses" ] || $MOCK dhcpcd -x "$network_interface" >/dev/null 2>&1 || : # none may run
	$MOCK ip -4 address flush dev "$network_interface"
	$MOCK ip -6 address flush dev "$network_interface" scope global
	$MOCK ip -6 route del default dev "$network_interface" 2>/dev/null || :
}

# Tries each interface with a carrier until one leads to a server. Its MAC identifies the node. A bond is tried once.
network_try() {
	for network_nic in $(network_interfaces); do $MOCK ip link set "$network_nic" up; done
	for network_nic in $(network_candidates); do
		network_interface=$network_nic
		network_has_carrier || continue
		network_tried=$(cat "$ROOT/sys/class/net/$network_nic/address")
		if network_stack "$network_nic" &&
			(wait_for 10 "a carrier on $network_interface" network_has_carrier) && network_configure 8 &&
			(wait_for 5 "a server behind $network_interface" network_reaches); then
			network_mac=$network_tried network_wanted=$network_tried
			return 0
		fi
		network_release
		network_unstack
		[ -z "$network_bond" ] || return 1
	done
	return 1
}

# Uses the interface that the kernel command line names.
network_use() {
	network_named=${network_ports:-$network_wanted}
	wait_for 60 "an interface with MAC ${network_named# }" network_is_complete || return 1
	network_stack "$(network_find "$network_wanted")" || return 1
	wait_for 60 "a carrier on $network_interface" network_has_carrier || return 1
	wait_for 120 "${network_addresses:-a lease or a router advertisement} on $network_interface" network_configure 9
}

network_up() {
	network_identify
	network_words || return 1
	$MOCK ip link set lo up
	[ -z "$network_bond" ] || wait # until modules_load has found every port
	if [ -n "$network_mac" ]; then
		network_use || return 1
	else
		wait_for 120 "a server behind any interface: neither sled.mac nor BOOTIF names one" network_try ||
			return 1
	fi
	network_shown=$($MOCK ip -o address show dev "$network_interface" scope global | awk '{print $4}')
	console_say "network: $network_interface, MAC $network_wanted, $(echo "$network_shown" | paste -s -d ' ' -)"
}
