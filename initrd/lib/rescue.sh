# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Step rescue: people log in by SSH, with the keys of the plan and nothing else. No disk is read, let alone
# mounted.

rescue_folder=$ROOT/run/sled/rescue

step_rescue() {
	rescue_end
	(umask 077 && mkdir -p "$rescue_folder" "$ROOT/root/.ssh")
	words_value keys "$@" >"$ROOT/root/.ssh/authorized_keys"
	chmod 0600 "$ROOT/root/.ssh/authorized_keys"
	echo root:x:0:0:root:/root:/bin/sh >"$ROOT/etc/passwd"
	$MOCK dropbearkey -t ed25519 -f "$rescue_folder/host_key" >"$rescue_folder/made"
	rescue_public=$(sed -n 's/^\(ssh-ed25519 [^ ]*\).*/\1/p' "$rescue_folder/made")
	rescue_address=$(network_address)
	if [ -z "$rescue_public" ] || [ -z "$rescue_address" ]; then
		echo "the host key '$rescue_public' or the address '$rescue_address' is missing" >&2
		return 1
	fi
	# No passwords (-s), no forwarding (-j -k). The redirections keep it from holding the pipe to the servers open.
	$MOCK setsid dropbear -F -E -s -j -k -r "$rescue_folder/host_key" -P "$rescue_folder/pid" \
		>"$rescue_folder/log" 2>&1 </dev/null &
	wait_for 20 "the SSH server" [ -s "$rescue_folder/pid" ] || { cat "$rescue_folder/log" >&2; return 1; }
	console_say "rescue: ssh root@$rescue_address"
	echo "detail $rescue_address $rescue_public"
}

# rescue_processes PID: prints it and its descendants, the youngest first. The busybox of Debian has no pgrep.
rescue_processes() (
	for rescue_child in $(rescue_children "$1"); do rescue_processes "$rescue_child"; done
	echo "$1"
)

# rescue_children PID: the name of a process may contain anything, so its parent is counted behind the last parenthesis.
rescue_children() {
	cat "$ROOT/proc"/[0-9]*/stat 2>/dev/null |
		awk -v parent="$1" '{ pid = $1; sub(/.*\) /, ""); if ($2 == parent) print pid }'
}

# The next plan may write to the disks: ends all sessions, with their processes.
rescue_end() {
	[ -s "$rescue_folder/pid" ] || return 0
	for rescue_process in $(rescue_processes "$(cat "$rescue_folder/pid")"); do
		$MOCK kill -9 "$rescue_process" 2>/dev/null || :
	done
	rm -rf "$rescue_folder" "$ROOT/root/.ssh"
	console_say "the rescue has ended"
}
