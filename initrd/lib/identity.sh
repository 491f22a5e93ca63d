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
	sledc tree remove "$disk_root" /var/lib/systemd/random-seed /var/lib/systemd/credential.secret
	identity_found=$(sledc tree names "$disk_root" /var/lib/dbus/machine-id)
	[ -z "$identity_found" ] || sledc tree link "$disk_root" /var/lib/dbus/machine-id /etc/machine-id
}

# A key of this machine in place of those of the image, reported with the end of the step. Ed25519 alone: an RSA key
# takes long, and only old clients need it. The system keeps a key that exists, and so does cloud-init with these
# settings.
identity_host_keys() {
	sledc tree remove "$disk_root" '/etc/ssh/ssh_host_*_key' '/etc/ssh/ssh_host_*_key.pub' \
		'/etc/ssh/ssh_host_*_key-cert.pub'
	identity_found=$(sledc tree names "$disk_root" /etc/ssh)
	[ -n "$identity_found" ] || return 0
	identity_public=$(sledc hostkey "root=$disk_root" out=/etc/ssh/ssh_host_ed25519_key)
	echo "hostkey $identity_public" >&3 # 3: see plan_detail
	configure_has_cloud_init || return 0
	configure_put 0644 /etc/cloud/cloud.cfg.d/99-sled.cfg <<-'END'
		# Written by Sled: keep the host key that the boot server knows.
		ssh_deletekeys: false
		ssh_genkeytypes: []
	END
}
