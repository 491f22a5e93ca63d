# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Programs of the site that run in each boot before the facts are gathered, such as one that makes the volumes of a RAID
# controller (contract/kernel-arguments.md, Hooks).

hooks_folder=$ROOT/etc/sled/hooks hooks_log=$ROOT/run/sled/hooks.log hooks_failed=$ROOT/run/sled/hooks.failed
hooks_limit=${hooks_limit-600}

# hooks_state CODE: how a hook ended, in words. With busybox the code of one that was stopped is that of its signal.
hooks_state() {
	case $1 in
	0) echo ok ;;
	124 | 137 | 143) echo "stopped after $hooks_limit s at the latest, code $1" ;;
	126 | 127) echo "failed, code $1: it cannot be started" ;;
	*) echo "failed, code $1" ;;
	esac
}

# hooks_run_one FILE: what it prints goes to its log, the end of which a failed step sends. Returns 1 if it failed.
hooks_run_one() {
	hooks_code=0
	console_say "hook ${1##*/} ..."
	timeout -k 10 "$hooks_limit" "$1" >"$hooks_log" 2>&1 </dev/null || hooks_code=$?
	console_say "hook ${1##*/} ... $(hooks_state "$hooks_code")"
	[ "$hooks_code" != 0 ] || return 0
	echo "hook ${1##*/} $(hooks_state "$hooks_code"): no step runs in this boot but rescue" >>"$hooks_log"
	cp "$hooks_log" "$hooks_failed"
	return 1
}

# In the order of their names, up to the first that fails. They may have made disks.
hooks_run() {
	rm -f "$hooks_failed"
	set -- "$hooks_folder"/[0-9][0-9]-*
	[ -e "$1" ] || return 0
	for hooks_file; do hooks_run_one "$hooks_file" || break; done
	modules_load
}

# hooks_forbid VERB: whether the step may not run, because a hook has failed.
hooks_forbid() { [ -e "$hooks_failed" ] && [ "$1" != rescue ]; }
