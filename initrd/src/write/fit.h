// SPDX-License-Identifier: Apache-2.0
// An image on a disk of another size (contract/image.md, "A disk of another size"). Pure functions over buffers.
//
// The writer fetches the chunk of the disk's first MiB separately, before it changes anything, and passes it to
// fit_table. Of every other chunk it writes only what lies below `limit`, after fit_chunk; then `copy`; the first MiB
// last.
#pragma once

#include "disk/device.h"
#include "image/index.h"

struct fit {
	uint64_t limit;		       // nothing is written from here on: the end of the disk or of the image
	uint64_t old_at, old_size;     // the GPT's copy in the image; size 0: there is none, or it stays where it is
	uint64_t spare_from, spare_to; // what that copy, wherever it is, has for itself: of no use once the table moves
	uint8_t *copy;	  // the GPT's copy for the disk's end, aligned for O_DIRECT; NULL: the one in the image fits
	size_t copy_size; // whole sectors
	uint64_t copy_at; // disk offset; copy_at + copy_size is the disk's end
};

// The check before anything is fetched. Returns an error of code 3 for a disk with another logical sector size, and if
// one of image and device is a partition and the other a disk; of code 4 for a partition that is too small.
int fit_check_kind(const struct index *index, bool is_partition, const char *name, struct fault *fault);
int fit_check(const struct index *index, const struct device *device, struct fault *fault);

// Reads bytes of the image's disk, free ones as zeros: `context` knows the image.
typedef int fit_read(void *context, uint64_t at, size_t size, uint8_t *data, struct fault *fault);

// The complete check. `head`: the disk's first chunk, decoded; NULL if the image has none. If the sizes differ and
// it holds a GPT, the GPT is rewritten in `head` (protective MBR, header, entries). Returns an error of code 4, with
// the missing bytes, if a used granule lies past the disk's end (the GPT's copy does not count), or if there is no
// room for the copy after them; 3 for a GPT that cannot be moved. After a failure `head` is unchanged. Free `ret`
// only after success.
int fit_table(const struct index *index, const struct device *device, uint8_t *head, fit_read *read, void *context,
	      struct fit *ret, struct fault *fault);
void fit_free(struct fit *fit);

// Returns the first byte of a used granule from the granule's start `at` on, without the spare ones; 0: none.
uint64_t fit_used_from(const struct fit *fit, const struct index *index, uint64_t at);

// Called before a chunk (not the head) is written: zeroes the image's copy of the GPT. `data` holds the whole chunk,
// already checked.
void fit_chunk(const struct fit *fit, const struct index *index, const struct chunk *chunk, uint8_t *data);

// Returns true if the disk gets something else than the index promises for this chunk, so it cannot be checked by
// its hash.
bool fit_changes(const struct fit *fit, const struct index *index, const struct chunk *chunk);
