// SPDX-License-Identifier: Apache-2.0
// What a filesystem itself counts as free: the proof of a map that another program made.
#pragma once

#include "disk/disk.h"
#include "disk/reader.h"

// Sets *ret_free to the free bytes of the filesystem `name`, by its own counters, else by its own table. 1: it has
// neither, or they cannot be read. It was recognised and is clean.
int free_bytes_read(const struct reader *reader, const struct partition *partition, const char *name,
		    uint64_t *ret_free, struct fault *fault);
