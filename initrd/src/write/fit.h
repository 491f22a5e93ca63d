// SPDX-License-Identifier: Apache-2.0
// An image on a disk of another size (contract/image.md, "A disk of another size"). Pure functions over buffers.
//
// The writer fetches the chunk of the disk's first MiB by itself, before anything is touched, and hands it to
// fit_table. Of every chunk it then writes only what lies below `limit`, after fit_chunk; `copy` when all chunks are
// written; the first MiB last.
#pragma once

#include "disk/device.h"
#include "image/index.h"

struct fit {
	uint64_t limit;	   // no byte at or past it is written: the end of the disk or of the image
	uint64_t old_at, old_size; // where the image has its copy of the GPT; size 0: that stays
	uint8_t *copy;	   // the GPT's copy for the disk's end, aligned for O_DIRECT; NULL: the image's own is right
	size_t copy_size;  // whole sectors
	uint64_t copy_at;  // disk offset; copy_at + copy_size is the disk's end
};

// What can be told before anything is fetched: a disk with another logical sector size is code 3.
int fit_check(const struct index *index, const struct device *device, struct fault *fault);

// The whole answer. `head`: the disk's first chunk, decoded; NULL when the image has none. When the sizes differ and it
// holds a GPT, that is rewritten in `head` (protective MBR, header, entries). Code 4 with the missing bytes when a used
// granule lies past the disk's end, the GPT's copy not counted, or when the copy has no room behind them; 3 for a GPT
// that cannot be moved. `head` is as it was after a failure, and `ret` is to be freed only after success.
int fit_table(const struct index *index, const struct device *device, uint8_t *head, struct fit *ret,
	      struct fault *fault);
void fit_free(struct fit *fit);

// Before a chunk (not the head) is written: zeros where the image has its old copy. `data` holds the whole chunk,
// checked.
void fit_chunk(const struct fit *fit, const struct index *index, const struct chunk *chunk, uint8_t *data);

// True when the disk is to hold something else than the index promises for this chunk: reading back cannot go by its
// hash.
bool fit_changes(const struct fit *fit, const struct index *index, const struct chunk *chunk);
