// SPDX-License-Identifier: Apache-2.0
// Where an import may put temporary files, and how much.
#pragma once

#include <stdint.h>

#include "base/fault.h"
#include "base/jail.h"

#define IMPORT_LIMIT ((uint64_t)4 << 40) // default: half an hour of zeros, and more than most disks

struct import_room {
	const char *folder;
	uint64_t limit; // bytes of disk that a compressed or foreign file may become
};

// Makes a temporary file for a disk of that size, all zeros. An error of code 3 if that is more than the limit.
int room_make(const struct import_room *room, uint64_t bytes, int *ret_fd, struct fault *fault);

// The bounds of a program that reads a foreign format and writes at most `output` bytes.
static inline struct jail import_jail(uint64_t output) {
	return (struct jail){.memory = UINT64_C(2) << 30, .output = output, .seconds = 6 * 3600};
}
