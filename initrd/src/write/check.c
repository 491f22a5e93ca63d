// SPDX-License-Identifier: Apache-2.0
#include "write/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "image/bitmap.h"
#include "write/delta.h"

#define SAMPLE_LEAST 32u // chunks
#define SAMPLE_SHARE 50u // one chunk of so many

static int refuse(const struct device *device, uint64_t offset, struct fault *fault) {
	return fault_set(fault, CODE_INTEGRITY,
			 "%s: what was written at byte %llu is not what is read back: check the disk for defects",
			 device->name, (unsigned long long)offset);
}

static bool can_be_checked(const struct index *index, const struct fit *fit, uint32_t i) {
	return index->chunks[i].offset != 0 && !fit_changes(fit, index, &index->chunks[i]);
}

// One chunk of each equal part of the image, so that samples cover the whole disk.
static void draw(const struct index *index, uint64_t salt, uint8_t *chunks) {
	uint32_t all = index->chunk_count,
		 count = all / SAMPLE_SHARE > SAMPLE_LEAST ? all / SAMPLE_SHARE : SAMPLE_LEAST;

	count = count < all ? count : all;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t from = i * all / count, to = (i + 1) * all / count, chance = 0;
		if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) != sizeof(chance))
			chance = 0; // early in a boot there may be no random bytes: only the salt is used
		salt = salt * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407) + i;
		bitmap_add(chunks, (uint32_t)(from + ((salt >> 32) ^ chance) % (to - from)));
	}
}

// A chunk that cannot be read is another fault (code 1).
static int explain(struct device *device, const struct index *index, const struct chunk *chunk, struct fault *fault) {
	cleanup_free uint8_t *data = device_buffer(CHUNK);
	int r = data ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "reading back");

	for (size_t from = 0, size = 0; r == 0 && chunk_run(index, chunk, from, &from, &size); from += size)
		r = device_read(device, data + from, size, chunk->offset + from, fault);
	return r == 0 ? refuse(device, chunk->offset, fault) : r;
}

int check_chunks(struct device *device, const struct index *index, const struct fit *fit, enum write_check how,
		 uint64_t salt, struct progress *progress, struct fault *fault) {
	cleanup_free uint8_t *chunks = calloc(1, bitmap_size(index) + 1);
	struct delta found;
	int r;

	if (how == CHECK_NONE)
		return 0;
	if (!chunks)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "reading back");
	if (how == CHECK_FULL)
		bitmap_fill(index, chunks);
	else
		draw(index, salt, chunks);
	for (uint32_t i = 0; i < index->chunk_count; i++)
		if (!can_be_checked(index, fit, i))
			bitmap_remove(chunks, i);
	r = delta_find(device, index, chunks, &found, how == CHECK_FULL ? progress : NULL, fault);
	for (uint32_t i = 0; r == 0 && found.differ > 0 && i < index->chunk_count; i++)
		if (bitmap_has(chunks, i))
			r = explain(device, index, &index->chunks[i], fault);
	return r;
}

int check_bytes(struct device *device, const void *data, size_t size, uint64_t offset, struct fault *fault) {
	cleanup_free uint8_t *there = device_buffer(size);
	int r;

	if (!there)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "reading back");
	r = device_read(device, there, size, offset, fault);
	return r == 0 && memcmp(there, data, size) != 0 ? refuse(device, offset, fault) : r;
}
