// SPDX-License-Identifier: Apache-2.0
// Commands of GRUB's script.
#pragma once

#include "boot/grub_run.h"

// The variables that GRUB sets itself. Returns false if there is no room.
bool run_set_defaults(struct variables *variables);

// Reads an environment block in the mode of its command.
int run_load(struct run *run, const char *block, enum mode mode);
