# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Step start as=kernel: a payload replaces the Sled system (contract/image.md, Content of a kernel image).

payload_folder=$ROOT/run/sled/payload

payload_start() {
	payload_refuse
	trap payload_release EXIT
	payload_mount
	payload_arguments=$(payload_fill)
	payload_load || exit "$((${kexec_code:-3} == 5 ? 5 : 3))"
	rm -f "$watchdog_chosen"
}

# What this machine cannot start. Only the system call that loads Linux checks a signature.
payload_refuse() {
	payload_what="format $start_format"
	[ "$start_real_mode" != yes ] || payload_what="real mode"
	[ "$payload_what" != 'format linux' ] || return 0
	payload_lockdown=$(sed -n 's/.*\[\(.*\)\].*/\1/p' "$ROOT/sys/kernel/security/lockdown" 2>/dev/null) || :
	case $payload_lockdown in
	none | '') ;;
	*) payload_why="the kernel is locked down (lockdown $payload_lockdown): it starts a signed Linux only" ;;
	esac
	[ "$payload_what" != 'real mode' ] || [ "$(kexec_firmware)" = bios ] ||
		payload_why="the machine was started by UEFI, and has no BIOS"
	case $(uname -m) in
	x86_64) ;;
	*) payload_why="only x86_64 starts it, and this machine is $(uname -m)" ;;
	esac
	[ -z "${payload_why-}" ] || { echo "a payload of $payload_what cannot be started: $payload_why" && exit 3; }
}

# Its modules are at /modules too: kexec passes the path of a module to the kernel.
payload_mount() {
	[ -e "$fetch_folder/kernel/image" ] || { echo "no kernel was fetched" && exit 3; }
	for payload_module in loop squashfs; do $MOCK modprobe -q "$payload_module" || :; done
	mkdir -p "$payload_folder"
	$MOCK mount -t squashfs -o loop,ro,nosuid,nodev,noexec "$fetch_folder/kernel/image" "$payload_folder"
	ln -s "$payload_folder/modules" "$ROOT/modules"
	[ -f "$payload_folder/kernel" ] || { echo "the image has no /kernel, so it is no payload" && exit 5; }
	payload_is=linux
	! head -c 4 "$payload_folder/kernel" | grep -q ELF || payload_is=multiboot
	[ "$payload_is" = "$start_format" ] ||
		{ echo "the kernel is not of format $start_format: it is $payload_is" && exit 5; }
}

payload_release() {
	rm -f "$ROOT/modules"
	[ ! -d "$payload_folder" ] || { $MOCK umount "$payload_folder" 2>/dev/null || :; rmdir "$payload_folder"; }
}

# payload_fill: prints the arguments, with what only this node knows.
payload_fill() {
	payload_confirm=$(printf '%s\n' "$start_confirm" | sed 's/[&|\\]/\\&/g')
	payload_rsdp=$(sed -n 's/^ACPI20=//p' "$ROOT/sys/firmware/efi/systab" 2>/dev/null) || :
	printf '%s\n' "$start_append" | sed -e "s|{address}|$(network_address)|g" -e "s|{confirm}|$payload_confirm|g" \
		-e "s|{mac}|$(words_value mac node $node)|g" -e "s|{rsdp}|${payload_rsdp:-0}|g"
}

payload_load() {
	set --
	for payload_path in "$ROOT"/modules/[0-9][0-9]; do
		[ -f "$payload_path" ] || continue
		case $start_format in
		linux) set -- "$payload_path" ;;
		*) set -- "$@" "--module=$payload_path $(cat "$payload_path.arguments" 2>/dev/null)" ;;
		esac
	done
	case $start_format:$start_real_mode in
	multiboot:*) set -- --type=multiboot-x86 "$@" ;;
	linux:yes) set -- --type=bzImage --real-mode ${1:+"--initrd=$1"} ;;
	*)
		kexec_load_files "$payload_folder/kernel" "${1-}" "$payload_arguments"
		return
		;;
	esac
	$MOCK kexec -c -l "$@" "--command-line=$payload_arguments" "$payload_folder/kernel"
}
