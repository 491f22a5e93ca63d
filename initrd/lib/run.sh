# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Step run: runs a program in the fetched root.

step_run() {
	for run_operand in job upload timeout grace privileged; do words_value "$run_operand" "$@"; done >&2
	echo "this Sled system runs no jobs" >&2
	exit 3
}
