# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Step start: starts what lies in memory.

# shellcheck disable=SC2034 # for payload.sh and system.sh
step_start() {
	start_append=$(words_value append "$@") start_confirm=$(words_value confirm "$@")
	start_format=$(words_value format "$@") start_real_mode=$(words_value real_mode "$@")
	start_format=${start_format:-linux}
	start_vmlinuz=$(words_value vmlinuz "$@") start_initrd=$(words_value initrd "$@")
	exec 3>&1 >&2 # 3: see plan_detail
	"start_$(words_value as "$@")"
}

start_kernel() {
	payload_start
	echo kexec >"$ROOT/run/sled/jump"
}

start_root() {
	memory_open
	configure_has /sbin/init || { echo "the fetched root has no /sbin/init" && exit 3; }
	echo root >"$ROOT/run/sled/jump"
}

start_system() { system_start; }
