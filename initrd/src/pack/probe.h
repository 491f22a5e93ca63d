// SPDX-License-Identifier: Apache-2.0
// What a partition holds, by its signatures. A pure function over its first and last bytes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PROBE_HEAD (128u << 10) // bytes that are looked at, fewer of a smaller partition
#define PROBE_TAIL (128u << 10)

enum content_kind {
	CONTENT_ALL,	    // every byte counts: data, LVM, LUKS
	CONTENT_SWAP,	    // only its header does
	CONTENT_FILESYSTEM, // what its own map says
};

struct probe {
	enum content_kind kind;
	const char *name;      // of the index: ext4, xfs, swap, lvm, data...
	const char *tool;      // of a filesystem: partclone.<tool>
	const char *objection; // why its map cannot be trusted, with advice; or NULL
	const char *warning;   // or NULL
	uint32_t header;       // bytes of a swap's
};

// `tail` ends where the partition ends.
void probe(const uint8_t *head, size_t head_size, const uint8_t *tail, size_t tail_size, struct probe *ret);
