# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What must differ between two nodes with the same image.

identity_name() {
	echo "$configure_hostname" | configure_put 0644 /etc/hostname
	{
		grep -v '^127\.0\.1\.1[[:space:]]' "$disk_root/etc/hosts" 2>/dev/null || :
		printf '127.0.1.1\t%s\n' "$configure_hostname"
	} | configure_put 0644 /etc/hosts
}

# "uninitialized" requests the first-boot setup of systemd, so the image's author must have set it. Any other system
# gets a new id here: systemd would use the id of the hypervisor, which is the same after each re-imaging.
identity_machine_id() {
	[ "$(cat "$disk_root/etc/machine-id" 2>/dev/null)" = uninitialized ] ||
		tr -d - <"$ROOT/proc/sys/kernel/random/uuid" | configure_put 0444 /etc/machine-id
	[ -L "$disk_root/var/lib/dbus/machine-id" ] || rm -f "$disk_root/var/lib/dbus/machine-id"
	rm -f "$disk_root/var/lib/systemd/random-seed" "$disk_root/var/lib/systemd/credential.secret"
}

# The keys are made at the first start, when there is more entropy. No RSA key: it takes long, and only old clients need
# it. cloud-init and sshd-keygen.target (Fedora) make keys themselves.
identity_host_keys() {
	rm -f "$disk_root"/etc/ssh/ssh_host_*_key "$disk_root"/etc/ssh/ssh_host_*_key.pub
	if configure_has_cloud_init || [ -e "$disk_root/usr/lib/systemd/system/sshd-keygen.target" ] ||
		[ ! -e "$disk_root/usr/bin/ssh-keygen" ] || ! configure_has_systemd; then
		return 0
	fi
	configure_unit sled-ssh-keys.service <<-'END'
		[Unit]
		Description=Make SSH host keys
		Before=ssh.service sshd.service ssh.socket
		ConditionPathExists=!/etc/ssh/ssh_host_ed25519_key

		[Service]
		Type=oneshot
		ExecStartPre=/bin/rm -f /etc/ssh/ssh_host_ecdsa_key
		ExecStart=/usr/bin/ssh-keygen -q -t ecdsa -N "" -f /etc/ssh/ssh_host_ecdsa_key
		ExecStart=/usr/bin/ssh-keygen -q -t ed25519 -N "" -f /etc/ssh/ssh_host_ed25519_key

		[Install]
		WantedBy=multi-user.target
	END
}
