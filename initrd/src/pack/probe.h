// SPDX-License-Identifier: Apache-2.0
// Recognises the content of a partition by its signatures. A pure function over its first and last bytes.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pack/clean.h"

#define PROBE_HEAD (128u << 10) // bytes that are read, fewer of a smaller partition
#define PROBE_TAIL (128u << 10)

enum content_kind {
	CONTENT_ALL,	    // every byte counts: data, LVM, LUKS
	CONTENT_SWAP,	    // only the header counts
	CONTENT_FILESYSTEM, // its own map of used blocks counts
};

struct probe {
	enum content_kind kind;
	const char *name;      // of the index: ext4, xfs, swap, lvm, data...; of a filesystem: partclone.<name>
	const char *objection; // why it must not be packed, with advice; or NULL
	const char *doubt;     // why all of it is kept in spite of its map; or NULL
	clean_check *check;    // sets the objection if it is not in these bytes; or NULL
	bool copy_at_end;      // the partition's last sector is part of the filesystem
	uint32_t header;       // bytes of a swap's
	uint64_t bytes;	       // of a swap, as its header declares them
	bool is_known;	       // it has the signature of at least one content
};

// `tail` ends where the partition ends.
void probe(const uint8_t *head, size_t head_size, const uint8_t *tail, size_t tail_size, struct probe *ret);
