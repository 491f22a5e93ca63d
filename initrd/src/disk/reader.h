// SPDX-License-Identifier: Apache-2.0
// Reads a disk, or bytes in memory in place of one.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct reader {
	const char *name;
	uint64_t bytes;
	int fd;		       // a file or device, also one opened with O_DIRECT
	uint64_t start;	       // of the bytes that are read within it
	const uint8_t *memory; // instead, when not NULL
};

// Finds the size of `fd`, and in *ret_sector the sector size of a device; 0: a file. Returns an error of code 3 if
// it is neither.
int reader_open(int fd, const char *name, struct reader *ret, uint32_t *ret_sector, struct fault *fault);

// Reads all `size` bytes. Past the end is code 3: a structure on the disk refers to bytes beyond it.
int reader_read(const struct reader *reader, void *data, size_t size, uint64_t offset, struct fault *fault);

// Returns where the next byte at or behind `at` may be that is not in a hole of the file; UINT64_MAX: there is none.
uint64_t reader_next_data(const struct reader *reader, uint64_t at);

#define READ_ALIGN 4096u // alignment of memory, offset and size for a read without a copy
