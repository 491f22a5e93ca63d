// SPDX-License-Identifier: Apache-2.0
// A disk, or bytes in memory that stand for one, that is only read.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct reader {
	const char *name;
	uint64_t bytes;
	int fd;		       // a file or device, also one opened with O_DIRECT
	const uint8_t *memory; // instead, when not NULL
};

// Size of what `fd` is; `sector` 0: of the device, 0 for a file. Code 3 when that is no disk.
int reader_open(int fd, const char *name, struct reader *ret, uint32_t *ret_sector, struct fault *fault);

// All of it. Past the end is code 3: what says so reaches beyond the disk.
int reader_read(const struct reader *reader, void *data, size_t size, uint64_t offset, struct fault *fault);

#define READ_ALIGN 4096u // of memory, offset and size that are read without a copy
