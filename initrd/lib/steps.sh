# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Steps that sledc runs alone, and steps that init runs after their end is reported.

step_wipe() { exec sledc "$@"; }

# The token is sent for captured images that are not signed.
step_write() {
	export SLED_TOKEN_FILE="$ROOT/run/sled/token"
	rm -f "$ROOT/run/sled/kept" # of an earlier image
	exec sledc "$@"
}

step_reboot() { echo "$1" >"$ROOT/run/sled/jump"; }

step_poweroff() { echo "$1" >"$ROOT/run/sled/jump"; }

step_idle() { :; }
