// SPDX-License-Identifier: Apache-2.0
// A disk that is put together from a folder of files: table, boot code, partitions.
#pragma once

#include <stdbool.h>

#include "import/dump.h"

struct tree {
	int dir;
	const char *path;   // of the folder, for people
	const char *folder; // for temporary files
	int disk;	    // sparse file
	struct dump table;
};

// Reads the table from that file and makes an empty disk, at least `bytes` large.
int tree_open(struct tree *tree, const char *table, uint64_t bytes, struct fault *fault);

// The table onto the disk, by sfdisk.
int tree_write_table(struct tree *tree, const char *table, struct fault *fault);

// `size` bytes at most of a file to a place of the disk, from `skip` on. A file that is not there is left out.
int tree_write_file(struct tree *tree, const char *name, uint64_t skip, uint64_t size, uint64_t at,
		    struct fault *fault);

// One partition from one file, or from all whose names begin with `prefix`, in order: compressed or not, partclone's or
// raw.
int tree_write_partition(struct tree *tree, const char *prefix, unsigned number, struct fault *fault);

// An empty swap with that UUID (text; NULL: none).
int tree_write_swap(struct tree *tree, unsigned number, const char *uuid, struct fault *fault);

bool tree_has(const struct tree *tree, const char *name);
bool tree_has_prefix(const struct tree *tree, const char *prefix);
