// SPDX-License-Identifier: Apache-2.0
// Compares a disk with what `write`, and `grow` after it, make of an image on a disk of its size (contract/image.md, "A
// disk of another size").
#pragma once

#include "source/source.h"
#include "write/delta.h"

struct compared {
	struct delta found;
	bool is_moved;	   // the table is that for a disk of this size, not the image's
	bool is_grown;	   // its last partition has grown
	bool copy_differs; // of the GPT, at the disk's end
	uint64_t copy_at, copy_size;
};

// Leaves in `chunks` (a bitmap with room for all) those that differ. Returns an error of code 5 if the disk cannot
// hold the image.
int compare_disk(struct device *device, struct source *source, const struct index *index, uint8_t *chunks,
		 struct compared *ret, struct progress *progress, struct fault *fault);
