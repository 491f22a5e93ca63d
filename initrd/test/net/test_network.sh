#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# network_up of the Sled system, with dhcpcd, busybox's ip and nc, over cables to a dnsmasq that leases what sites
# lease: a server behind the router is reached. As root; prints TAP.
set -eu
[ "${1-}" = inside ] || exec unshare --mount --net --pid --fork --kill-child --mount-proc "$0" inside
initrd=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/lib/dhcpcd
grep -v ^dhcpcd: /etc/passwd >"$work/passwd" # the Sled system has no such user
mount --bind "$work/passwd" /etc/passwd
mkdir "$work/tools" /run/dhcpcd
for applet in ip awk ping nc; do ln -s "$(command -v busybox)" "$work/tools/$applet"; done
ip link set lo up
ip address add 10.99.0.1/32 dev lo
ip address add fd99::1/128 dev lo
"$work/tools/nc" -ll -p 443 -e true &

# node ARGUMENTS: the kernel command line. The interfaces are cables, which have no device: what /sys says of them is
# written down.
node() {
	mkdir -p "$ROOT/dev" "$ROOT/etc" "$ROOT/lib" "$ROOT/proc" "$ROOT/run/sled"
	ln -s "$initrd/lib" "$ROOT/lib/sled"
	ln -s /proc/uptime /proc/sys "$ROOT/proc"
	: >"$ROOT/dev/kmsg"
	echo "$1" >"$ROOT/proc/cmdline"
	ip netns add "$name"
	card 1
}

# card NUMBER: a cable to the node's eth0, eth1 and so on. Behind the other end are two routers and the server.
card() {
	near=eth$(($1 - 1)) far=$name-$1
	cards="$cards $far"
	mkdir -p "$ROOT/sys/class/net/$near/device"
	echo "52:54:00:77:00:0$1" >"$ROOT/sys/class/net/$near/address"
	echo 1 >"$ROOT/sys/class/net/$near/carrier"
	ip link add "$far" type veth peer name "$near" address "52:54:00:77:00:0$1" netns "$name"
	echo 0 >"/proc/sys/net/ipv6/conf/$far/accept_dad"
	ip link set "$far" up
}

# routers CARD: whose addresses they have.
routers() {
	for address in 10.9.0.1/24 10.9.0.254/24 10.9.9.9/32 fd09::1/64; do
		ip address add "$address" dev "$name-$1"
	done
}

# leases CARD ADDRESS OPTION...: a dnsmasq hands out ADDRESS.
leases() {
	card=$name-$1 address=$2
	shift 2
	dnsmasq --keep-in-foreground --user=root --port=0 --conf-file=/dev/null --leasefile-ro --no-ping --pid-file \
		--interface="$card" --bind-interfaces --dhcp-authoritative --dhcp-range="$address,$address" "$@" \
		>>"$ROOT/dnsmasq.log" 2>&1 &
}

# up SERVER: the node gets its network, and reaches the server behind the router.
up() {
	# shellcheck disable=SC2016 # expanded there. Each node has a dhcpcd for an eth0.
	ip netns exec "$name" env ROOT="$ROOT" MOCK='' console_devices='' PATH="$work/tools:$PATH" sh -euc '
		mount -t tmpfs tmpfs /run/dhcpcd
		for part in words console wait network; do . "$0/lib/$part.sh"; done
		network_up
		wait_for 30 "an answer" ping -c 1 -W 2 "$1" >/dev/null
		echo "identity $network_mac"
		cat "$ROOT/etc/resolv.conf" 2>/dev/null || :
		PATH=${PATH#*:} ip -4 route # busybox shows no MTU of a route
		ip -6 route; ip address' "$initrd" "$1" >"$ROOT/network" 2>&1
}

number=0 failed=0
begin() {
	number=$((number + 1)) name=c$number cards=''
	export ROOT="$work/$number"
}

# expect WHAT PATTERN SERVER: the pattern is of the node's network.
expect() {
	if up "$3" && grep -q -e "$2" "$ROOT/network"; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		touch "$ROOT/dnsmasq.log"
		sed 's/^/# /' "$ROOT/network" "$ROOT/dev/kmsg" "$ROOT/dnsmasq.log"
		failed=1
	fi
	for far in $cards; do ip link del "$far"; done
}

# lease WHAT PATTERN OPTION...
lease() {
	what=$1 pattern=$2
	shift 2
	begin
	node sled.mac=52:54:00:77:00:01
	routers 1
	leases 1 10.9.0.50 "$@"
	expect "$what" "$pattern" 10.99.0.1
}

# static WHAT PATTERN SERVER WORDS
static() {
	begin
	node "sled.mac=52:54:00:77:00:01 sled.net=$4"
	routers 1
	expect "$1" "$2" "$3"
}

# advertised WHAT PATTERN RANGE: no DHCP server of IPv4 answers, but a router advertises itself.
advertised() {
	begin
	node sled.mac=52:54:00:77:00:01
	routers 1
	leases 1 10.66.0.1 --enable-ra --dhcp-range="$3" --dhcp-option="option6:dns-server,[fd09::1]"
	expect "$1" "$2" fd99::1
}

# The first card has no DHCP server, the second one a lease of a network that leads nowhere.
wrong() {
	begin
	node 'quiet sled.servers=https://[fd99::1],https://10.99.0.1'
	card 2
	card 3
	ip address add 10.8.0.1/24 dev "$name-2"
	leases 2 10.8.0.50 --dhcp-option=option:router,10.8.0.77
	routers 3
	leases 3 10.9.0.50 --dhcp-option=option:router,10.9.0.1
	expect 'the third card leads to a server' '^identity 52:54:00:77:00:03$' 10.99.0.1
}

echo 1..9
lease 'a router, and an address for the identity' '^default via 10\.9\.0\.1 .* src 10\.9\.0\.40 ' \
	--dhcp-option=option:router,10.9.0.1 --dhcp-host=id:01:52:54:00:77:00:01,10.9.0.40
lease 'a /32 whose router is elsewhere' '^default via 10\.9\.9\.9 ' \
	--dhcp-option=option:router,10.9.9.9 --dhcp-option=option:netmask,255.255.255.255
lease 'classless routes stand for the router' '^10\.99\.0\.0/16 via 10\.9\.0\.254 ' \
	--dhcp-option=option:router,10.9.0.77 \
	--dhcp-option=option:classless-static-route,10.99.0.0/16,10.9.0.254,10.98.0.0/16,0.0.0.0
lease 'an MTU' 'mtu 1400 ' --dhcp-option=option:router,10.9.0.1 --dhcp-option=option:mtu,1400
static 'a static address, its gateway elsewhere' 'mtu 1300 ' 10.99.0.1 address=10.9.0.60/32,gateway=10.9.9.9,mtu=1300
static 'a static address of IPv6' '^default via fd09::1 ' fd99::1 address=fd09::60/64,gateway=fd09::1
advertised 'router advertisements alone' '^nameserver fd09::1$' fd09::,ra-only,64
advertised 'DHCPv6, and a prefix without addresses' 'inet6 fd09::5[0-9]/128' fd09::50,fd09::59,64
wrong
exit "$failed"
