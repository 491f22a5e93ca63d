// SPDX-License-Identifier: Apache-2.0
// Runs a program that parses bytes of strangers: it can open the given files, its libraries and nothing else, has no
// network and no capability but that of reading, it reaches no other process, and its memory, time and output are
// limited. Of system calls it has those of a list (jail_filter.c).
//
// By Landlock; where the kernel has none, by a mount namespace (with a user namespace for other users than root), which
// does not keep the program from changing its input. Where there is neither, the program is not started. Both ways it
// is in a namespace of processes; with Landlock only if this user may make one.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/jail_file.h"

struct jail {
	size_t file_count;
	struct jail_file files[JAIL_FILES];
	uint64_t memory;  // bytes of address space
	uint64_t output;  // bytes of a file that it writes
	uint64_t seconds; // of processor time
};

// `program`: its path. `streams`: its standard input, output and error. Returns an error of code 3 if it cannot be
// confined.
int jail_start(const struct jail *jail, const char *program, const char *const words[], const int streams[3],
	       pid_t *ret, struct fault *fault);
