// SPDX-License-Identifier: Apache-2.0
// The files that a confined program is given, and where it finds them.
#pragma once

#include <stdbool.h>

#define JAIL_FILES 2u
#define JAIL_FIRST 10 // descriptor of the first file in the program; as text too: JAIL_FILE_0, JAIL_FILE_1
#define JAIL_FILE_0 "/proc/self/fd/10"
#define JAIL_FILE_1 "/proc/self/fd/11"

struct jail_file {
	int fd;
	bool writable;
};
