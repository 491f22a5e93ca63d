// SPDX-License-Identifier: Apache-2.0
// Commands of GRUB's script.
#pragma once

#include "boot/grub_run.h"

#define OWN_FOLDER "(own)" // value of "prefix" and "config_directory": the folder of grub.cfg

// The name of a file in the folder of grub.cfg; NULL: it is elsewhere.
const char *run_own_file(const char *path);

// The variables that GRUB sets itself. Returns false if there is no room.
bool run_set_defaults(struct variables *variables);

// Reads an environment block in the mode of its command.
int run_load(struct run *run, const char *block, enum mode mode);

int run_linux(struct run *run, const struct grub_words *words, enum mode mode);
int run_initrd(struct run *run, const struct grub_words *words, enum mode mode);
