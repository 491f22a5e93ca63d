// SPDX-License-Identifier: Apache-2.0
// Reads the partition table of a disk: MBR with logical partitions, or GPT.
#pragma once

#include "base/extents.h"
#include "disk/disk.h"
#include "disk/partition_type.h"
#include "disk/reader.h"

enum table_kind { TABLE_NONE, TABLE_MBR, TABLE_GPT };

struct table {
	enum table_kind kind;
	uint32_t sector;
	size_t partition_count;
	struct partition partitions[PARTITIONS_MAX]; // by start, in bytes; without a table one that covers the disk
	struct extents structures;		     // settled: bytes of the table itself
	// Areas that the table announces in a way that does not tell what is in them: odd extended partitions, entries
	// without a type, Windows' dynamic disks, what only the MBR beside a GPT knows. Not among the partitions.
	struct extents opaque;
	struct extents swaps, others, slices; // not settled: partitions of another type than PARTITION_ANY
	const char *warning;		      // a warning for the operator, or NULL
};

// `sector` 0: the size with which a GPT is found, else 512. Returns an error of code 3 for an impossible table. Free
// `ret` after a failure too.
int table_read(const struct reader *reader, uint32_t sector, struct table *ret, struct fault *fault);
void table_free(struct table *table);

void table_add_type(struct table *table, enum partition_type type, uint64_t start, uint64_t end);
enum partition_type table_type(const struct table *table, const struct partition *partition);
