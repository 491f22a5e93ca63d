// SPDX-License-Identifier: Apache-2.0
// Disk selectors and keep lists of contract/plan.md: parses them, and matches disks. Pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "disk/disk.h"

#define TERMS_MAX 16u
#define KEEP_MAX 64u

enum term_kind {
	TERM_SERIAL, // terms of identity
	TERM_WWN,
	TERM_PATH,
	TERM_MODEL, // terms of description
	TERM_VENDOR,
	TERM_TRANSPORT,
	TERM_ROTATIONAL,
	TERM_PART_UUID, // of keep lists only
	TERM_PART_LABEL,
	TERM_SIZE,
	TERM_SMALLEST,
	TERM_ONLY
};

struct term {
	enum term_kind kind;
	char *value;	      // decoded; NULL for size, smallest and only
	uint64_t least, most; // bytes, of size
};

struct selector {
	char *text; // as it was written, for messages
	size_t count;
	struct term terms[TERMS_MAX];
};

struct keep {
	size_t count;
	struct selector selectors[KEEP_MAX];
};

// Free all after a failure too. Only a keep list may name partitions.
int selector_parse(const char *text, struct selector *ret, struct fault *fault);
int selectors_parse(const char *text, struct keep *ret, struct fault *fault); // joined by ;
int keep_parse(const char *text, struct keep *ret, struct fault *fault);
void selector_free(struct selector *selector);
void keep_free(struct keep *keep);

// Returns whether all terms match; "smallest" always does, as it needs the other disks.
bool selector_matches(const struct selector *selector, const struct disk *disk);
bool selector_has(const struct selector *selector, enum term_kind kind);
bool keep_matches(const struct keep *keep, const struct disk *disk);

// Returns whether the selector may choose the disk. Without a term of identity it chooses only local disks.
bool selector_chooses(const struct selector *selector, const struct disk *disk);
