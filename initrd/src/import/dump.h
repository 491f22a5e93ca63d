// SPDX-License-Identifier: Apache-2.0
// What "sfdisk --dump" writes, as Clonezilla and FOG keep it. Pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define DUMP_PARTITIONS_MAX 128u

struct dump_partition {
	unsigned number;
	uint64_t start, bytes;
};

struct dump {
	bool is_gpt;
	uint32_t sector;
	uint64_t last_usable; // LBA; 0: not said
	size_t partition_count;
	struct dump_partition partitions[DUMP_PARTITIONS_MAX];
};

// Code 3 for what it cannot be.
int dump_parse(const char *text, struct dump *ret, struct fault *fault);

const struct dump_partition *dump_find(const struct dump *dump, unsigned number); // NULL: none

// A disk that has room for all of it: where its GPT says that it ends, else the next MiB.
uint64_t dump_disk_bytes(const struct dump *dump);
