// SPDX-License-Identifier: Apache-2.0
// The partition table of a disk, read: MBR with logical partitions, GPT. Reads nothing but what a reader gives.
#pragma once

#include "base/extents.h"
#include "disk/disk.h"
#include "disk/reader.h"

enum table_kind { TABLE_NONE, TABLE_MBR, TABLE_GPT };

struct table {
	enum table_kind kind;
	uint32_t sector;
	size_t partition_count;
	struct partition partitions[PARTITIONS_MAX]; // by start, in bytes; without a table one that covers the disk
	struct extents structures;		     // settled: bytes of the table itself
	const char *warning;			     // what an operator should know of it, or NULL
};

// `sector` 0: the one with which there is a GPT, else 512. Code 3 for a table that cannot be right. `ret` is to be
// freed also after a failure.
int table_read(const struct reader *reader, uint32_t sector, struct table *ret, struct fault *fault);
void table_free(struct table *table);
