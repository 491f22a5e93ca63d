// SPDX-License-Identifier: Apache-2.0
// Assembles a disk from a folder of files: table, boot code, partitions.
#pragma once

#include <stdbool.h>

#include "import/dump.h"
#include "import/room.h"

struct tree {
	int dir;
	const char *path; // of the folder, for people
	const struct import_room *room;
	int disk; // sparse file
	struct dump table;
};

// Reads the table from that file and creates an empty disk of at least `bytes`.
int tree_open(struct tree *tree, const char *table, uint64_t bytes, struct fault *fault);

// Writes the table to the disk, with sfdisk.
int tree_write_table(struct tree *tree, const char *table, struct fault *fault);

// Copies at most `size` bytes of a file, from `skip` on, to a place of the disk. A missing file is skipped.
int tree_write_file(struct tree *tree, const char *name, uint64_t skip, uint64_t size, uint64_t at,
		    struct fault *fault);

// Writes one partition from all files whose names begin with `prefix`, in order: compressed or not, of partclone or
// raw.
int tree_write_partition(struct tree *tree, const char *prefix, unsigned number, struct fault *fault);

// Writes an empty swap with that UUID and label, which may be empty.
int tree_write_swap(struct tree *tree, unsigned number, const char *uuid, const char *label, struct fault *fault);

// What becomes of a partition of the table that has no file: an empty swap, nothing for an extended one, and an error
// for all others.
int tree_write_absent(struct tree *tree, const struct dump_partition *partition, struct fault *fault);

bool tree_has(const struct tree *tree, const char *name);
bool tree_has_pieces(const struct tree *tree, const char *prefix);
