# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Step rescue: people enter by SSH, with the keys that the plan names and nothing else. No disk is looked at, let alone mounted.

rescue=$ROOT/run/sled/rescue

step_rescue() {
	end_rescue
	(umask 077 && mkdir -p "$rescue" "$ROOT/root/.ssh")
	value keys "$@" >"$ROOT/root/.ssh/authorized_keys"
	chmod 0600 "$ROOT/root/.ssh/authorized_keys"
	echo root:x:0:0:root:/root:/bin/sh >"$ROOT/etc/passwd"
	$MOCK dropbearkey -t ed25519 -f "$rescue/host_key" >"$rescue/made"
	public=$(sed -n 's/^\(ssh-ed25519 [^ ]*\).*/\1/p' "$rescue/made")
	address=$($MOCK ip -4 -o address show scope global | awk '{ sub("/.*", "", $4); print $4; exit }')
	if [ -z "$public" ] || [ -z "$address" ]; then
		echo "no host key or no address: '$public', '$address'" >&2
		return 1
	fi
	# No passwords (-s), no forwarding (-j -k). It must not keep the pipe to the servers open.
	$MOCK setsid dropbear -F -E -s -j -k -r "$rescue/host_key" -P "$rescue/pid" >"$rescue/log" 2>&1 </dev/null &
	wait_for 20 "the SSH server" [ -s "$rescue/pid" ] || { cat "$rescue/log" >&2; return 1; }
	say "rescue: ssh root@$address"
	echo "detail $address $public"
}

# family PID: it and all that it started, the youngest first.
family() (
	for child in $($MOCK pgrep -P "$1"); do family "$child"; done
	echo "$1"
)

# The next plan may write to the disks: whoever is logged in is put out, with all that they run.
end_rescue() {
	[ -s "$rescue/pid" ] || return 0
	for process in $(family "$(cat "$rescue/pid")"); do $MOCK kill -9 "$process" 2>/dev/null || :; done
	rm -rf "$rescue" "$ROOT/root/.ssh"
	say "the rescue has ended"
}
