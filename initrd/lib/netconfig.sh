# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The network of the installed system, where the declaration of the node has one; else the image's own stays.

# The folder of what was the image's, the files that are moved there, and what is written here. An image that was
# captured from a node with dhcp or a document has the latter: dhcp is its own network, on whatever machine it gets to.
netconfig_before=/var/lib/sled/network.before
netconfig_files='/etc/netplan/*.yaml /etc/network/interfaces.d/*
	/etc/systemd/network/*.network /etc/systemd/network/*.netdev /etc/systemd/network/*.link
	/etc/systemd/network/*.d/*.conf /etc/NetworkManager/system-connections/*
	/etc/sysconfig/network-scripts/ifcfg-* /etc/sysconfig/network-scripts/route-*
	/etc/sysconfig/network-scripts/route6-* /etc/sysconfig/network-scripts/rule-*'
netconfig_written='/etc/netplan/90-sled.yaml /etc/systemd/network/10-sled.network
	/etc/systemd/network/10-sled-*.network /etc/systemd/network/10-sled-*.netdev /etc/systemd/network/10-sled-*.link
	/etc/NetworkManager/system-connections/sled.nmconnection
	/etc/NetworkManager/system-connections/sled-*.nmconnection'

# A line with a fixed address, in the words of systemd-networkd, NetworkManager, network-scripts, ifupdown and netplan.
netconfig_address='^[[:space:]]*\(Address *=\|address[0-9]*=\|IPADDR[0-9]*=\|iface .*[[:space:]]static\)'
netconfig_address=$netconfig_address'\|^[[:space:]]*\(addresses: *\[\|-\) *["'"'"']\{0,1\}[0-9a-fA-F.:]*/[0-9]'

netconfig_set() {
	# shellcheck disable=SC2086 # patterns
	netconfig_old=$(set -f && sledc tree files "$disk_root" $netconfig_written) || exit
	[ -e "$seed_folder/network" ] || [ -n "$netconfig_old" ] || { netconfig_warn; return; }
	netconfig_check
	network_identify
	netconfig_mac=${network_wanted:-$(words_value mac $node)} # of the interface that was found, if none is named
	netconfig_kind=$(netconfig_find)
	[ -n "$netconfig_kind" ] || {
		echo "network: $netconfig_declared: the image starts none of netplan (/usr/sbin/netplan)," \
			"NetworkManager (NetworkManager.service) and systemd-networkd (systemd-networkd.service)" >&2
		exit 3
	}
	netconfig_labels
	netconfig_clear
	netconfig_cloud_init
	if [ "$netconfig_declared" = declared ]; then
		netconfig_declare
	else
		"netconfig_$netconfig_kind"
		netconfig_said="dhcp on $netconfig_mac"
	fi
	plan_detail "network: $netconfig_said; files of the image are moved to $netconfig_before"
}

# An address of the machine that the image was made on comes up on every machine that gets it.
netconfig_warn() {
	# shellcheck disable=SC2086 # patterns
	netconfig_found=$(set -f && sledc tree files "$disk_root" /etc/network/interfaces $netconfig_files) || exit
	[ -n "$netconfig_found" ] || return 0
	netconfig_fixed=$(printf '%s\n' "$netconfig_found" |
		while IFS= read -r netconfig_file; do
			! configure_says "$netconfig_address" "$netconfig_file" || printf ' %s' "$netconfig_file"
		done) || exit
	[ -z "$netconfig_fixed" ] || plan_detail "network: the image's own, with fixed addresses:$netconfig_fixed"
}

netconfig_check() {
	netconfig_declared=dhcp
	[ ! -e "$seed_folder/network" ] || netconfig_declared=$(cat "$seed_folder/network")
	case $netconfig_declared in
	dhcp | declared) ;;
	*)
		echo "network \"$netconfig_declared\" of the seed: this Sled system knows dhcp and declared" >&2
		exit 3
		;;
	esac
}

# netconfig_declare: writes the files that the boot server has rendered for what the image starts.
netconfig_declare() {
	netconfig_folder=$netconfig_kind
	[ "$netconfig_kind" != netplan ] || { netconfig_choose; netconfig_folder=netplan-$netconfig_renderer; }
	netconfig_found=$(tar -t -f "$seed_folder/seed.tar" | grep "^$netconfig_folder/.*[^/]$") || {
		echo "network: declared: the seed has no files for $netconfig_folder" >&2
		exit 1
	}
	printf '%s\n' "$netconfig_found" | while IFS= read -r netconfig_file; do
		tar -x -O -f "$seed_folder/seed.tar" "$netconfig_file" >"$seed_folder/file"
		case $netconfig_file in */systemd/*) netconfig_mode=0644 ;; *) netconfig_mode=0600 ;; esac
		configure_put "$netconfig_mode" "/${netconfig_file#*/}" <"$seed_folder/file"
	done
	case $netconfig_folder in *networkmanager) netconfig_others ;; esac
	netconfig_said="as declared, for $netconfig_folder"
}

# netconfig_starts UNIT: whether the image enables it.
netconfig_starts() {
	netconfig_found=$(sledc tree names "$disk_root" "/etc/systemd/system/*.wants/$1") || exit
	[ -n "$netconfig_found" ]
}

# Prints what sets up the network of the image; nothing if that is none of those that are known.
netconfig_find() {
	if configure_has /usr/sbin/netplan; then echo netplan
	elif netconfig_starts NetworkManager.service; then echo networkmanager
	elif netconfig_starts systemd-networkd.service; then echo networkd
	fi
}

# What is written here has no label of SELinux, and NetworkManager may not read such a file.
netconfig_labels() {
	! configure_says '^SELINUX=enforcing' /etc/selinux/config || {
		echo "network: $netconfig_declared: SELinux of the image is enforcing," \
			"so $netconfig_kind could not open it" >&2
		exit 3
	}
}

# netconfig_move FILE
netconfig_move() {
	sledc tree get "$disk_root" "$1" >"$seed_folder/moved" || exit
	configure_put 0600 "$netconfig_before$1" <"$seed_folder/moved"
	sledc tree remove "$disk_root" "$1"
}

# Removes what was written here before, and moves what else there is.
netconfig_clear() {
	[ -z "$netconfig_old" ] || printf '%s\n' "$netconfig_old" |
		while IFS= read -r netconfig_file; do sledc tree remove "$disk_root" "$netconfig_file"; done
	# shellcheck disable=SC2086 # patterns
	netconfig_found=$(set -f && sledc tree files "$disk_root" $netconfig_files) || exit
	[ -z "$netconfig_found" ] || printf '%s\n' "$netconfig_found" |
		while IFS= read -r netconfig_file; do netconfig_move "$netconfig_file"; done
	netconfig_interfaces
}

# The service of ifupdown would fail without its file.
netconfig_interfaces() {
	configure_has /etc/network/interfaces || return 0
	netconfig_loopback=$(printf 'auto lo\niface lo inet loopback')
	netconfig_found=$(sledc tree get "$disk_root" /etc/network/interfaces) || exit
	[ "$netconfig_found" != "$netconfig_loopback" ] || return 0
	netconfig_move /etc/network/interfaces
	printf '%s\n' "$netconfig_loopback" | configure_put 0644 /etc/network/interfaces
}

# cloud-init would write its own. Of files in this folder the last counts.
netconfig_cloud_init() {
	! configure_has /usr/bin/cloud-init || echo 'network: {config: disabled}' |
		configure_put 0644 /etc/cloud/cloud.cfg.d/zzz-sled-network.cfg
}

# Chooses what netplan is to write for.
netconfig_choose() {
	netconfig_renderer=networkd
	! netconfig_starts NetworkManager.service || netconfig_starts systemd-networkd.service ||
		netconfig_renderer=networkmanager
}

# All identify themselves by MAC, as firmware does, so that the address stays. netplan writes for networkd and
# switches Wake-on-LAN off by default.
netconfig_netplan() {
	netconfig_choose
	netconfig_named=$netconfig_renderer
	[ "$netconfig_renderer" = networkd ] || netconfig_named=NetworkManager
	configure_put 0600 /etc/netplan/90-sled.yaml <<-END
		network:
		  version: 2
		  renderer: $netconfig_named
		  ethernets:
		    boot:
		      match: {macaddress: "$netconfig_mac"}
		      wakeonlan: true
		      dhcp-identifier: mac
		      dhcp4: true
		      dhcp6: true
	END
	[ "$netconfig_renderer" = networkd ] || netconfig_others
}

# NetworkManager makes a profile for each interface that has none.
netconfig_others() {
	printf '[main]\nno-auto-default=*\n' | configure_put 0644 /etc/NetworkManager/conf.d/90-sled.conf
}

netconfig_networkmanager() {
	configure_put 0600 /etc/NetworkManager/system-connections/sled.nmconnection <<-END
		[connection]
		id=sled
		type=ethernet
		[ethernet]
		mac-address=$netconfig_mac
		[ipv4]
		method=auto
		dhcp-client-id=mac
		[ipv6]
		method=auto
	END
	netconfig_others
}

netconfig_networkd() {
	configure_put 0644 /etc/systemd/network/10-sled.network <<-END
		[Match]
		MACAddress=$netconfig_mac
		Type=ether
		[Network]
		DHCP=yes
		[DHCPv4]
		ClientIdentifier=mac
	END
}
