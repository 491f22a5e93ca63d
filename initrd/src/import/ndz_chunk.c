// SPDX-License-Identifier: Apache-2.0
#include "import/ndz_chunk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "image/index.h"

#define MAGIC UINT32_C(0x69696969) // of version 1; each version adds 1
#define SECTOR_BYTES UINT64_C(512)
#define SECTORS_MAX (DISK_MAX / SECTOR_BYTES)

// The versions that are read. Version 5 is as compilers for 64-bit machines lay it out.
static const struct format {
	uint16_t header; // bytes before the regions
	uint16_t bounds; // where first and last sector of the chunk are; 0: it has none
	uint16_t id;	 // where the UUID of the image is; 0: it has none
	bool is_wide;	 // sectors are numbers of 64 bits
} formats[] = {{.header = 24},
	       {.header = 36, .bounds = 24},
	       {.header = 36, .bounds = 24},
	       {.header = 344, .bounds = 24, .id = 328},
	       {.header = 72, .bounds = 40, .id = 56, .is_wide = true}};

bool ndz_starts(const uint8_t *head, size_t size) { return size >= 4 && get_le32(head) - MAGIC <= ELEMENTS(formats); }

int ndz_damaged(const struct ndz_walk *walk, struct fault *fault, const char *format, ...) {
	char what[256];
	va_list words;

	va_start(words, format);
	vsnprintf(what, sizeof(what), format, words);
	va_end(words);
	return fault_set(fault, CODE_UNSUPPORTED,
			 "it is a damaged file of imagezip: chunk %" PRIu64 " of %" PRIu64 " %s", walk->number,
			 walk->total, what);
}

int ndz_begin(uint64_t bytes, struct ndz_walk *ret, struct fault *fault) {
	*ret = (struct ndz_walk){.total = (bytes + NDZ_CHUNK - 1) / NDZ_CHUNK};
	if (bytes == 0 || bytes % NDZ_CHUNK) {
		ret->number = ret->total;
		return ndz_damaged(ret, fault, "is cut off: each has 1 MiB");
	}
	return 0;
}

static const char *name_of_relocation(uint32_t type) {
	static const char *const names[] = {
		"disklabel of FreeBSD",
		"disklabel of OpenBSD",
		"address of LILO",
		"map of LILO",
		"checksum of LILO",
		"short sector",
		"GPT",
	};
	return type - 1 < ELEMENTS(names) ? names[type - 1] : "unknown type";
}

// What would have to be known to read it.
static int check_needs(const struct format *format, const uint8_t *head, uint32_t regions, struct fault *fault) {
	size_t at = format->header + (size_t)regions * (format->is_wide ? 16 : 8);

	if (format == &formats[3] && get_le16(head + 36))
		return fault_set(fault, CODE_UNSUPPORTED,
				 "it is an encrypted file of imagezip: make it again without -e");
	if (format == &formats[3] && get_le16(head + 38))
		return fault_set(fault, CODE_UNSUPPORTED,
				 "it is a signed file of imagezip, whose key is elsewhere: make it again without -a");
	if (format->bounds && get_le32(head + 32))
		return fault_set(fault, CODE_UNSUPPORTED,
				 "it is a file of imagezip with relocations (%s), which change with the place that "
				 "it is written to: pass that of a whole disk, made without -s, -f and -L",
				 at <= NDZ_HEADER - 16 ? name_of_relocation(get_le32(head + at)) : "unknown type");
	return 0;
}

// Version, and what all chunks of a file have in common. NULL with a fault.
static const struct format *find_format(struct ndz_walk *walk, const uint8_t *head, struct fault *fault) {
	uint32_t magic = get_le32(head), version = magic - MAGIC;
	const struct format *format;

	if (walk->number == 1)
		walk->magic = magic;
	if (magic != walk->magic) {
		ndz_damaged(walk, fault, "starts with %08" PRIx32 ", not with %08" PRIx32, magic, walk->magic);
		return NULL;
	}
	if (version >= ELEMENTS(formats)) {
		fault_set(fault, CODE_UNSUPPORTED,
			  "it is a file of imagezip of version %" PRIu32
			  ", but versions 1 to 5 are read: make it again without -e and -a",
			  version + 1);
		return NULL;
	}
	format = &formats[version];
	if (walk->number == 1 && format->id)
		memcpy(walk->id, head + format->id, NDZ_ID);
	if (format->id && memcmp(walk->id, head + format->id, NDZ_ID) != 0) {
		ndz_damaged(walk, fault, "is of another image than the first one");
		return NULL;
	}
	return format;
}

// The numbers at the start of each version.
static int check_start(const struct ndz_walk *walk, const uint8_t *head, struct fault *fault) {
	uint32_t stream = get_le32(head + 4), index = get_le32(head + 8), total = get_le32(head + 12);

	if (index != walk->number - 1)
		return ndz_damaged(walk, fault,
				   "states that %" PRIu32 " are before it: some are missing or out of order", index);
	if (walk->magic == MAGIC && total && total != walk->total)
		return ndz_damaged(walk, fault, "states that there are %" PRIu32, total);
	if (get_le32(head + 16) != NDZ_HEADER)
		return ndz_damaged(walk, fault, "has a header of %" PRIu32 " bytes, not of %u", get_le32(head + 16),
				   NDZ_HEADER);
	if (stream == 0 || stream > NDZ_CHUNK - NDZ_HEADER)
		return ndz_damaged(walk, fault, "has %" PRIu32 " bytes of content, more than fit or none", stream);
	return 0;
}

static uint64_t number(const struct format *format, const uint8_t *at, size_t i) {
	return format->is_wide ? get_le64(at + 8 * i) : get_le32(at + 4 * i);
}

// The sectors that the chunk describes, behind those before it.
static int read_bounds(const struct ndz_walk *walk, const struct format *format, const uint8_t *head, uint64_t *first,
		       uint64_t *last, struct fault *fault) {
	uint64_t least = walk->end / SECTOR_BYTES;

	*first = format->bounds ? number(format, head + format->bounds, 0) : least;
	*last = format->bounds ? number(format, head + format->bounds, 1) : SECTORS_MAX;
	if (*first < least || *first > *last || *last > SECTORS_MAX)
		return ndz_damaged(walk, fault,
				   "is of the sectors from %" PRIu64 " to %" PRIu64 ", but must start at %" PRIu64
				   " or behind",
				   *first, *last, least);
	return 0;
}

static int read_regions(struct ndz_walk *walk, const struct format *format, const uint8_t *head, struct ndz_chunk *ret,
			struct fault *fault) {
	uint64_t at, last;
	int r = read_bounds(walk, format, head, &at, &last, fault);

	for (size_t i = 0; r == 0 && i < ret->region_count; i++) {
		uint64_t start = number(format, head + format->header, 2 * i);
		uint64_t size = number(format, head + format->header, 2 * i + 1);
		if (size == 0 || start > SECTORS_MAX || size > SECTORS_MAX)
			return ndz_damaged(walk, fault, "has an impossible region: %" PRIu64 " sectors from %" PRIu64,
					   size, start);
		if (start < at)
			return ndz_damaged(walk, fault,
					   "has a region out of order: it starts at sector %" PRIu64
					   ", before %" PRIu64,
					   start, at);
		at = start + size;
		if (at > last)
			return ndz_damaged(walk, fault,
					   "has a region outside of the disk: it ends at sector %" PRIu64
					   ", behind %" PRIu64,
					   at, last);
		ret->regions[i] = (struct ndz_region){start * SECTOR_BYTES, size * SECTOR_BYTES};
	}
	if (r == 0)
		walk->end = (format->bounds ? last : at) * SECTOR_BYTES;
	return r;
}

int ndz_next(struct ndz_walk *walk, const uint8_t head[NDZ_HEADER], struct ndz_chunk *ret, struct fault *fault) {
	const struct format *format;
	uint32_t regions = get_le32(head + 20);
	int r;

	walk->number++;
	format = find_format(walk, head, fault);
	if (!format)
		return -EOPNOTSUPP;
	r = check_start(walk, head, fault);
	if (r < 0)
		return r;
	if (regions == 0 || regions > (NDZ_HEADER - format->header) / (format->is_wide ? 16u : 8u))
		return ndz_damaged(walk, fault, "has %" PRIu32 " regions, more than fit or none", regions);
	r = check_needs(format, head, regions, fault);
	if (r < 0)
		return r;
	ret->stream = get_le32(head + 4);
	ret->region_count = regions;
	return read_regions(walk, format, head, ret, fault);
}
