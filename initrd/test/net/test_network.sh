#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# network_up of the Sled system, with busybox's udhcpc and ip, over a cable to a dnsmasq that leases what sites lease:
# a server behind the router is reached. As root; prints TAP.
set -eu
[ "${1-}" = inside ] || exec unshare --mount --net --pid --fork --kill-child --mount-proc "$0" inside
initrd=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mount -t tmpfs tmpfs /run
mkdir "$work/tools"
for applet in ip udhcpc awk ping; do ln -s "$(command -v busybox)" "$work/tools/$applet"; done

# The interface is a cable, which has no device: what /sys says of it is written down.
node() {
	mkdir -p "$ROOT/dev" "$ROOT/etc" "$ROOT/lib" "$ROOT/proc" "$ROOT/run" "$ROOT/sys/class/net/eth0/device"
	ln -s "$initrd/lib" "$ROOT/lib/sled"
	ln -s /proc/uptime "$ROOT/proc/uptime"
	: >"$ROOT/dev/kmsg"
	echo 'sled.mac=52:54:00:77:00:01' >"$ROOT/proc/cmdline"
	echo 52:54:00:77:00:01 >"$ROOT/sys/class/net/eth0/address"
	echo 1 >"$ROOT/sys/class/net/eth0/carrier"
}

# cable NAME: the node's end is eth0 in a namespace of its own; behind the other end are two routers and a server.
cable() {
	ip netns add "$1"
	ip link add "$1" type veth peer name eth0 address 52:54:00:77:00:01 netns "$1"
	for address in 10.9.0.1/24 10.9.0.254/24 10.9.9.9/32 10.99.0.1/32; do ip address add "$address" dev "$1"; done
	ip link set "$1" up
}

# leases NAME OPTION...: dnsmasq hands out 10.9.0.50.
leases() {
	name=$1
	shift
	dnsmasq --keep-in-foreground --user=root --port=0 --conf-file=/dev/null --leasefile-ro --no-ping --pid-file \
		--interface="$name" --bind-interfaces --dhcp-authoritative --dhcp-range=10.9.0.50,10.9.0.50 "$@" \
		>"$ROOT/dnsmasq.log" 2>&1 &
}

# up NAME: the node gets its network, and reaches the server behind the router.
up() {
	# shellcheck disable=SC2016 # expanded there
	ip netns exec "$1" env ROOT="$ROOT" MOCK='' console_devices='' PATH="$work/tools:$PATH" sh -euc '
		for part in words console wait network; do . "$0/lib/$part.sh"; done
		network_up
		ping -c 1 -W 5 10.99.0.1 >/dev/null
		ip route
		ip link show eth0' "$initrd" >"$ROOT/network" 2>&1
}

# has PATTERN: the node's network has it.
has() { grep -q -e "$1" "$ROOT/network"; }

number=0 failed=0
# lease WHAT PATTERN OPTION...
lease() {
	number=$((number + 1))
	what=$1 pattern=$2
	shift 2
	export ROOT="$work/$number"
	node
	cable "c$number"
	leases "c$number" "$@"
	if up "c$number" && has "$pattern"; then
		echo "ok $number - $what"
	else
		echo "not ok $number - $what"
		sed 's/^/# /' "$ROOT/network" "$ROOT/dev/kmsg" "$ROOT/dnsmasq.log"
		failed=1
	fi
	ip link del "c$number"
}

echo 1..4
lease 'a router' '^default via 10\.9\.0\.1 ' --dhcp-option=option:router,10.9.0.1
lease 'a /32 whose router is elsewhere' '^default via 10\.9\.9\.9 ' \
	--dhcp-option=option:router,10.9.9.9 --dhcp-option=option:netmask,255.255.255.255
lease 'classless routes stand for the router' '^10\.99\.0\.0/16 via 10\.9\.0\.254 ' \
	--dhcp-option=option:router,10.9.0.77 \
	--dhcp-option=option:classless-static-route,10.99.0.0/16,10.9.0.254,10.98.0.0/16,0.0.0.0
lease 'an MTU' 'mtu 1400 ' --dhcp-option=option:router,10.9.0.1 --dhcp-option=option:mtu,1400
exit "$failed"
