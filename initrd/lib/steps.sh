# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The steps that sledc does by itself, and those that init does once their end is reported.

step_wipe() { exec sledc "$@"; }

step_write() { exec sledc "$@"; }

step_reboot() { echo "$1" >"$ROOT/run/sled/jump"; }

step_poweroff() { echo "$1" >"$ROOT/run/sled/jump"; }

step_idle() { :; }
