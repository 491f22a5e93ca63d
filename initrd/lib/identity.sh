# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What must differ between two nodes with the same image.

identity_name() {
	echo "$configure_hostname" | configure_put 0644 /etc/hostname
	identity_hosts=$(sledc tree get "$disk_root" /etc/hosts)
	{
		[ -z "$identity_hosts" ] || printf '%s\n' "$identity_hosts" | grep -v '^127\.0\.1\.1[[:space:]]' || :
		printf '127.0.1.1\t%s\n' "$configure_hostname"
	} | configure_put 0644 /etc/hosts
}

# "uninitialized" requests the first-boot setup of systemd, so the image's author must have set it. Any other system
# gets a new id here: systemd would use the id of the hypervisor, which is the same after each re-imaging.
identity_machine_id() {
	identity_found=$(sledc tree get "$disk_root" /etc/machine-id)
	[ "$identity_found" = uninitialized ] ||
		tr -d - <"$ROOT/proc/sys/kernel/random/uuid" | configure_put 0444 /etc/machine-id
	identity_found=$(sledc tree names "$disk_root" /var/lib/dbus/machine-id)
	[ -z "$identity_found" ] || sledc tree link "$disk_root" /var/lib/dbus/machine-id /etc/machine-id
}

# A key of this machine in place of those of the image, of the best kind that its SSH server takes, reported at the end
# of the step. One is enough, and an RSA key takes long. The system keeps a key that exists, and so does cloud-init with
# the settings of seed_cloud_init.
identity_host_keys() {
	# shellcheck disable=SC2046 # files
	(set -f && sledc tree remove "$disk_root" '/etc/ssh/ssh_host_*_key' '/etc/ssh/ssh_host_*_key.pub' \
		'/etc/ssh/ssh_host_*_key-cert.pub' $(sshd_all hostkey | sed -n 's,^/.*,& &.pub,p'))
	identity_found=$(sledc tree names "$disk_root" /etc/ssh)
	[ -n "$identity_found" ] || return 0
	for identity_kind in $(sshd_kinds); do
		identity_file=$(sshd_key_file "$identity_kind")
		[ -n "$identity_file" ] || continue
		identity_public=$(sledc hostkey "root=$disk_root" "out=$identity_file" "kind=$identity_kind")
		echo "hostkey $identity_public" >&3 # 3: see plan_detail
		return 0
	done
	echo "sshd of the image takes no host key that Sled can make: HostKey $(sshd_all hostkey | tr '\n' ' ')," \
		"HostKeyAlgorithms $(sshd_first hostkeyalgorithms)" >&2
	return 3
}

# What the system makes again: leases and identities of DHCP clients, names bound to network cards, the disks that LVM
# may open.
identity_remade='/var/lib/systemd/random-seed /var/lib/systemd/credential.secret
	/var/lib/dhcp/*.lease* /var/lib/dhclient/*.lease* /var/lib/dhcpcd/*.lease* /var/lib/dhcpcd/duid
	/var/lib/dhcpcd/secret /etc/dhcpcd.duid /etc/dhcpcd.secret /var/lib/NetworkManager/*.lease
	/var/lib/NetworkManager/secret_key /var/lib/wicked/*.xml
	/etc/udev/rules.d/*persistent-net.rules /etc/udev/rules.d/*persistent-cd.rules /etc/lvm/devices/system.devices'

# What only its owner can make again: who the machine is to another system.
identity_foreign='/etc/hostid /etc/krb5.keytab /etc/salt/minion_id /etc/salt/pki/minion/minion.pem
	/etc/puppetlabs/puppet/ssl /var/lib/puppet/ssl /etc/chef/client.pem /etc/kubernetes/kubelet.conf
	/etc/rancher/node/password /var/lib/etcd/member /etc/pki/consumer/cert.pem
	/etc/zypp/credentials.d/SCCcredentials /var/lib/ubuntu-advantage/private/machine-token.json
	/var/lib/samba/private/secrets.tdb /var/lib/tailscale/tailscaled.state /var/lib/zerotier-one/identity.secret
	/var/lib/teleport/host_uuid /etc/wireguard/*.conf /var/lib/mysql/auto.cnf /etc/qualys/hostid
	/opt/CrowdStrike/falconstore /var/lib/systemd/home/local.private
	/etc/ssl/private/ssl-cert-snakeoil.key /etc/multipath/bindings'

# State of the machine that the image was made on.
identity_state() {
	# shellcheck disable=SC2086 # patterns
	(set -f && sledc tree remove "$disk_root" $identity_remade)
	identity_found=$(mounts_cover /var/lib/systemd)
	[ -z "$identity_found" ] || plan_detail "$identity_found; state of another machine may be in it"
	identity_storage
	# shellcheck disable=SC2086 # patterns
	identity_found=$(set -f && sledc tree names "$disk_root" $identity_foreign)
	for identity_file in /etc/fstab /etc/crypttab '/etc/systemd/system/*.mount' '/etc/systemd/system/*.swap'; do
		! configure_says '^[^#]*/dev/disk/by-\(id\|path\)/' "$identity_file" ||
			identity_found="$identity_found $identity_file"
	done
	[ -z "$identity_found" ] ||
		plan_detail "kept from the machine that the image was made on:$(printf ' %s' $identity_found)"
}

# Who the machine is in a storage network: two with one identity destroy each other's data.
identity_storage() {
	identity_id=$(cat "$ROOT/proc/sys/kernel/random/uuid")
	for identity_file in /etc/nvme/hostnqn /etc/nvme/hostid; do
		configure_has "$identity_file" || continue
		case $identity_file in
		*nqn) echo "nqn.2014-08.org.nvmexpress:uuid:$identity_id" ;;
		*) echo "$identity_id" ;;
		esac | configure_put 0644 "$identity_file"
	done
	# Debian makes its own where the file requests it (GenerateName=yes).
	configure_says '^InitiatorName=' /etc/iscsi/initiatorname.iscsi || return 0
	sledc tree get "$disk_root" /etc/iscsi/initiatorname.iscsi |
		sed "/^InitiatorName=/ { s/\(:[^:.]*\)\{0,1\}\$//; s/\$/:${identity_id##*-}/; }" |
		configure_put 0600 /etc/iscsi/initiatorname.iscsi
}
