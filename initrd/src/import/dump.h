// SPDX-License-Identifier: Apache-2.0
// Parses the output of "sfdisk --dump", which Clonezilla and FOG store. Pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define DUMP_PARTITIONS_MAX 128u

struct dump_partition {
	unsigned number;
	uint64_t start, bytes;
	bool is_swap, is_extended; // by its type: nothing of it is saved
};

struct dump {
	bool is_gpt;
	uint32_t sector;
	uint64_t last_usable; // LBA; 0: not given
	size_t partition_count;
	struct dump_partition partitions[DUMP_PARTITIONS_MAX];
};

// Returns an error of code 3 for anything else.
int dump_parse(const char *text, struct dump *ret, struct fault *fault);

const struct dump_partition *dump_find(const struct dump *dump, unsigned number); // NULL: none

// The size of a disk with room for everything: up to the end in its GPT, else the next MiB.
uint64_t dump_disk_bytes(const struct dump *dump);
