#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each folder here is an installed system; its file `expect` says what bootentry must print, and its file
# `boot_is`, if any, where /boot is mounted. An empty `expect`: exit 3. Kernels and initrds are made from the list
# `files`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
status=0
for system in "$here"/*/; do
	name=$(basename "$system")
	copy=$TMPDIR/boot/$name
	mkdir -p "$TMPDIR/boot"
	cp -R "$system" "$copy"
	while read -r file; do
		mkdir -p "$(dirname "$copy/$file")"
		echo x > "$copy/$file"
	done < "$copy/files"
	boot=boot=$copy/boot
	[ ! -f "$copy/boot_is" ] || boot=boot=$copy/$(cat "$copy/boot_is")
	code=0
	"$SLEDC" bootentry root="$copy" "$boot" > "$TMPDIR/out" 2> "$TMPDIR/err" || code=$?
	got=$(sed "s,$copy,,g" "$TMPDIR/out")
	wanted=$(cat "$copy/expect")
	if [ "$got" = "$wanted" ] && [ "$code" = "$([ -n "$wanted" ] && echo 0 || echo 3)" ]; then
		echo "ok - $name"
	else
		echo "not ok - $name: exit $code"
		echo "# got    $got"
		echo "# wanted $wanted"
		cat "$TMPDIR/err"
		status=1
	fi
done
exit $status
