# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Step run: runs a program in the fetched root, as a container (contract/job.md). Only crun interprets its
# configuration.

run_folder=$ROOT/run/sled/job run_bundle=$ROOT/run/sled/job/bundle run_groups=$ROOT/sys/fs/cgroup

step_run() {
	exec 3>&1 >&2 # 3: see plan_detail
	run_job=$(words_value job "$@") run_upload=$(words_value upload "$@")
	run_timeout=$(words_value timeout "$@") run_grace=$(words_value grace "$@")
	run_grace=${run_grace:-10}
	[ "$(words_value privileged "$@")" != yes ] || run_unbind_disks
	run_clear
	trap 'run_clear; fetch_end' EXIT
	run_configure
	run_modules
	run_tune
	run_mount
	run_limit
	run_start
	run_watch
	run_judge
	run_hurry </dev/null >/dev/null 2>&1 3>&- &
	run_hurrier=$!
	run_keep_files
	kill "$run_hurrier" 2>/dev/null || :
	echo "$run_ended $(run_streams | paste -s -d ' ' -)" >&3
}

run_configure() {
	(umask 077 && mkdir -p "$run_bundle/secrets" "$run_bundle/rootfs" "$run_folder/image" "$run_folder/upper")
	sledc job $node "job=$run_job" "out=$run_folder/job.tar" >&3
	tar -x -f "$run_folder/job.tar" -C "$run_bundle"
	rm "$run_folder/job.tar"
	[ -e "$run_bundle/artefacts" ] || : >"$run_bundle/artefacts"
}

# All modules of the kernel of a job.
run_modules() {
	[ -e "$ROOT/image" ] && [ ! -d "$ROOT/run/sled/modules" ] || return 0
	for run_module in loop squashfs; do $MOCK modprobe -q "$run_module" || :; done
	mkdir -p "$ROOT/run/sled/modules"
	$MOCK mount -t squashfs -o loop,ro,nodev "$ROOT/image" "$ROOT/run/sled/modules"
	$MOCK mount -o bind "$ROOT/run/sled/modules/usr/lib/modules" "$ROOT/lib/modules"
}

# Settings of the kernel. One that lists what it can be shows its value in brackets.
run_tune() {
	[ -e "$run_bundle/tune" ] || return 0
	while IFS= read -r run_line; do
		run_path=${run_line%%=*} run_value=${run_line#*=}
		case $(readlink -f "$ROOT$run_path") in
		"$ROOT/sys/"* | "$ROOT/proc/sys/"*) ;;
		*) echo "tune $run_path: this kernel has no such setting" && exit 3 ;;
		esac
		[ -f "$ROOT$run_path" ] || { echo "tune $run_path: this kernel has no such setting" && exit 3; }
		printf '%s\n' "$run_value" >"$ROOT$run_path" || {
			echo "tune $run_path: $run_value was refused"
			exit 3
		}
		run_read=$(tr '\t' ' ' <"$ROOT$run_path")
		case " $run_read " in
		" $run_value " | *"[$run_value]"*) ;;
		*) echo "tune $run_path: $run_value was written, it is $run_read" && exit 3 ;;
		esac
	done <"$run_bundle/tune"
}

# What the program changes is in memory, and no node of a device is one.
run_mount() {
	for run_module in loop squashfs overlay; do $MOCK modprobe -q "$run_module" || :; done
	set -- -o loop,ro,nodev "$fetch_folder/root/image"
	[ ! -s "$fetch_folder/device" ] || set -- -o ro,nodev "$(cat "$fetch_folder/device")"
	if ! $MOCK mount -t squashfs "$@" "$run_folder/image"; then
		! run_corrupted || { echo "a block of the root on NFS is not that of the image" && exit 5; }
		exit 1
	fi
	$MOCK mount -t tmpfs -o mode=700,nodev tmpfs "$run_folder/upper"
	mkdir -m 755 "$run_folder/upper/root" "$run_folder/upper/work"
	run_layers=lowerdir=$run_folder/image,upperdir=$run_folder/upper/root,workdir=$run_folder/upper/work
	$MOCK mount -t overlay -o "nodev,$run_layers" overlay "$run_bundle/rootfs"
}

# All but 64 MiB of what is free now, for all processes and files of the program. Without memory, all of them end.
run_limit() {
	[ -e "$run_groups/cgroup.controllers" ] || $MOCK mount -t cgroup2 cgroup2 "$run_groups"
	mkdir -p "$run_groups/sled"
	echo '+memory +pids' >"$run_groups/cgroup.subtree_control"
	echo '+memory +pids' >"$run_groups/sled/cgroup.subtree_control"
	awk '$1 == "MemAvailable:" { print ($2 - 65536) * 1024 }' "$ROOT/proc/meminfo" >"$run_groups/sled/memory.max"
	echo 1 >"$run_groups/sled/memory.oom.group"
}

# run_send STREAM: uploads standard input.
run_send() {
	sledc output "stream=$1" "upload=$run_upload" "token=$ROOT/run/sled/token" "ca=$ROOT/etc/sled/ca.crt" \
		>"$run_folder/$1.end" || : >"$run_folder/$1.missing"
}

# The root of the Sled system cannot be pivoted, so crun gets a bind mount of it.
# shellcheck disable=SC2016 # words of the inner shell
run_inner='mount -o rbind / "$1" && cd "$1" && mount -o move . / && shift && exec chroot . "$@"'

run_start() {
	mkdir "$run_folder/system"
	mkfifo "$run_folder/out" "$run_folder/err"
	run_send out <"$run_folder/out" 3>&- &
	run_senders=$!
	run_send err <"$run_folder/err" 3>&- &
	run_senders="$run_senders $!"
	{
		$MOCK unshare -m sh -c "$run_inner" run "$run_folder/system" \
			crun "--root=$run_folder/crun" --cgroup-manager=cgroupfs "--log=$run_folder/log" \
			run "--bundle=$run_bundle" "--pid-file=$run_folder/pid" job \
			>"$run_folder/out" 2>"$run_folder/err" </dev/null && run_code=0 || run_code=$?
		echo "$run_code" >"$run_folder/code"
	} 3>&- &
}

# run_listen: writes the signal that an operator sends.
run_listen() {
	run_given=
	while [ "$run_given" != KILL ]; do
		run_answer=$(sledc signal $node "job=$run_job" ${run_given:+"given=$run_given"}) || run_answer=
		case $run_answer in
		TERM | KILL) echo "$run_answer" >"$run_folder/signal" && run_given=$run_answer ;;
		none) ;;
		*) $MOCK sleep 5 ;;
		esac
	done
}

run_kill() {
	[ ! -s "$run_folder/pid" ] || $MOCK kill "-$1" "$(cat "$run_folder/pid")" 2>/dev/null || :
	# A process that waits for the NFS server is not killed before its read ends.
	[ "$1" != KILL ] || [ ! -s "$fetch_folder/device" ] || sledc detach "folder=$fetch_folder/nfs" interrupt=yes
}

# run_hurry: artefacts of a program that was ended do not wait for an NFS server that stays away.
run_hurry() {
	[ "$run_by" != payload ] && [ -s "$fetch_folder/device" ] || return 0
	$MOCK sleep 60
	while :; do
		sledc detach "folder=$fetch_folder/nfs" interrupt=yes
		$MOCK sleep 1
	done
}

# run_corrupted: a block of a root on NFS was not that of the image.
run_corrupted() { [ -s "$fetch_folder/device" ] && [ "$(sledc attached)" = corrupted ]; }

# Sets $run_by to why the program is to end, if it is.
run_decide() {
	run_now=$(wait_seconds_up) run_signal=$(cat "$run_folder/signal" 2>/dev/null) || :
	if [ "$run_by" = payload ]; then
		if [ "$run_signal" ]; then
			run_by=cancel
		elif run_corrupted; then
			run_by=integrity
		elif [ "$run_timeout" ] && [ "$run_now" -ge $((run_begin + run_timeout)) ]; then
			run_by=timeout
		else
			return 0
		fi
		run_end=$((run_now + run_grace))
		run_kill TERM
	fi
	if [ "$run_signal" = KILL ] || [ "$run_now" -ge "$run_end" ]; then run_kill KILL; fi
}

run_watch() {
	run_begin=$(wait_seconds_up) run_by=payload
	run_listen </dev/null >/dev/null 2>&1 3>&- &
	run_listener=$!
	until [ -s "$run_folder/code" ]; do
		run_decide
		$MOCK sleep 0.2
	done
	kill "$run_listener" 2>/dev/null || :
	# shellcheck disable=SC2086 # two
	wait $run_senders || :
	read -r run_code <"$run_folder/code"
}

# Sets $run_ended. Without a started program the log of crun has the reason.
run_judge() {
	run_end="exit=$run_code"
	[ "$run_code" -le 128 ] || [ "$run_code" -gt 192 ] || run_end="signal=$((run_code - 128))"
	if [ ! -s "$run_folder/pid" ]; then
		run_by=sled
		run_said=$(tail -n 1 "$run_folder/log")
		case $run_said in
		*'not found'* | *'No such file'*) run_end='exit=127' ;;
		*'ermission denied'*) run_end='exit=126' ;;
		*)
			echo "crun: $run_said"
			run_corrupted || exit 1
			run_end='exit=126'
			;;
		esac
		plan_detail "$run_said"
	elif [ "$run_code" = 137 ] && [ "$run_by" = payload ] &&
		! grep -q '^oom_kill 0$' "$run_groups/sled/memory.events"; then
		run_by=memory
	fi
	if [ "$run_by" != cancel ] && run_corrupted; then
		run_by=integrity
		plan_detail "a block of the root on NFS is not that of the image"
	fi
	run_ended="ended $run_end by=$run_by"
}

# What tar has not read does not arrive.
run_tar() {
	tar -c -f - -C "$run_bundle/rootfs" -- "$@" && return
	: >"$run_folder/files.missing"
	plan_detail "artefacts: tar failed" >&2
}

# A link in the path of an artefact could lead out of the root.
run_keep_files() {
	printf 'files=0 files_sha256=\n' >"$run_folder/files.end"
	set -f --
	while read -r run_path; do
		run_part=$run_bundle/rootfs run_left=${run_path#/}
		while [ "$run_left" ]; do
			run_part=$run_part/${run_left%%/*}
			case $run_left in */*) run_left=${run_left#*/} ;; *) run_left= ;; esac
			[ ! -L "$run_part" ] || break
		done
		if [ -L "$run_part" ] || [ ! -e "$run_part" ]; then
			plan_detail "artefact $run_path: there is none"
			continue
		fi
		set -- "$@" "${run_path#/}"
	done <"$run_bundle/artefacts"
	[ $# = 0 ] || run_tar "$@" | run_send files
	set +f
}

# Prints the figures of each stream, and which were not uploaded to their end.
run_streams() {
	run_lost=
	for run_stream in out err files; do
		cat "$run_folder/$run_stream.end"
		[ ! -e "$run_folder/$run_stream.missing" ] || run_lost=$run_lost,$run_stream
	done
	[ -z "$run_lost" ] || echo "missing=${run_lost#,}"
}

# Nothing of a job is left: processes, mounts, loop devices, files.
run_clear() {
	for run_group in "$run_groups/sled/job" "$run_groups/sled"; do
		[ -d "$run_group" ] || continue
		echo 1 >"$run_group/cgroup.kill"
		wait_for 20 "the processes of the job" run_remove_group
	done
	for run_mounted in "$run_bundle/rootfs" "$run_folder/upper" "$run_folder/image"; do
		[ ! -d "$run_mounted" ] || $MOCK umount "$run_mounted" 2>/dev/null || :
	done
	rm -rf "$run_folder"
}

run_remove_group() { $MOCK rmdir "$run_group" 2>/dev/null; }

# A privileged program is root on this node. Its disks have no drivers then; they are back with the next boot.
run_unbind_disks() {
	for run_disk in "$ROOT"/sys/block/*; do
		for run_device in "$run_disk/device" "$run_disk/device/device"; do
			[ ! -e "$run_device/driver" ] || break
		done
		[ ! -e "$run_device/driver" ] || basename "$(readlink -f "$run_device")" >"$run_device/driver/unbind"
	done
	for run_disk in "$ROOT"/sys/block/*; do
		[ ! -e "$run_disk/device" ] || { echo "${run_disk##*/} cannot be taken from this node" && exit 3; }
	done
}
