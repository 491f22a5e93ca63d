// SPDX-License-Identifier: Apache-2.0
#include "erase/snapshot.h"

#include <errno.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"

#define EDGE_BLOCKS (ERASE_EDGE / SAMPLE)

// A pass over the blocks. `visit` returns 0 to continue.
struct walk {
	struct device *device;
	unsigned char *data;
	int (*visit)(struct walk *, uint64_t index, uint64_t offset, uint64_t held, uint32_t size);
	uint64_t *held;			 // of the pass before
	const struct snapshot *snapshot; // of the pass after
	struct erase *erase;
	uint64_t wrong;
	bool uniform;
	bool dead; // nothing of the range before could be read
};

static uint64_t describe(const unsigned char *data, uint32_t size) {
	uint8_t hash[SHA256_DIGEST_LENGTH];

	if (size == 1 || memcmp(data, data + 1, size - 1) == 0)
		return HELD_UNIFORM;
	SHA256(data, size, hash);
	return get_be64(hash) | 2; // never one of the other values
}

// Blocks of [offset, offset + size), at most BLOCK. What cannot be read at once is read by block, but not behind one
// of which nothing could be read: a dead disk would wait for a timeout at each block.
static int walk_range(struct walk *w, uint64_t index, uint64_t offset, uint32_t size, struct fault *fault) {
	int whole = device_read(w->device, w->data, size, offset, fault);
	bool split = whole < 0 && !w->dead && size > SAMPLE, any = whole == 0;

	if (whole < 0 && device_is_gone(whole))
		return whole;
	for (uint32_t at = 0; at < size; at += SAMPLE, index++) {
		uint32_t n = (uint32_t)least(SAMPLE, size - at);
		int r = split ? device_read(w->device, w->data + at, n, offset + at, fault) : whole;
		if (r < 0 && device_is_gone(r))
			return r;
		any |= r == 0;
		r = w->visit(w, index, offset + at, r < 0 ? HELD_UNREADABLE : describe(w->data + at, n), n);
		if (r != 0)
			return r;
	}
	w->dead = !any;
	return 0;
}

static int walk_long(struct walk *w, uint64_t index, uint64_t offset, uint64_t size, struct progress *progress,
		     struct fault *fault) {
	for (uint64_t at = 0; at < size; at += BLOCK) {
		int r = walk_range(w, index + at / SAMPLE, offset + at, (uint32_t)least(BLOCK, size - at), fault);
		if (r != 0)
			return r;
		if (progress)
			progress_tick(progress, offset + at);
	}
	return 0;
}

// The same blocks in the same order, whenever it is called.
static int walk_all(struct walk *w, const struct snapshot *b, struct fault *fault) {
	uint64_t bytes = b->device->bytes;
	int r;

	if (b->samples == 0)
		return walk_long(w, 0, 0, bytes, NULL, fault);
	r = walk_long(w, 0, 0, ERASE_EDGE, NULL, fault);
	if (r == 0)
		r = walk_long(w, EDGE_BLOCKS, bytes - ERASE_EDGE, ERASE_EDGE, NULL, fault);
	for (uint64_t i = 0; r == 0 && i < b->samples; i++)
		r = walk_range(w, 2 * EDGE_BLOCKS + i, samples_offset(b->seed, bytes, b->samples, i), SAMPLE, fault);
	return r;
}

static int take_one(struct walk *w, uint64_t index, uint64_t offset, uint64_t held, uint32_t size) {
	(void)offset, (void)size;
	w->held[index] = held;
	w->uniform &= held == HELD_UNIFORM;
	return 0;
}

int snapshot_take(struct device *device, struct snapshot *ret, struct fault *fault) {
	cleanup_free unsigned char *data = device_buffer(BLOCK);
	struct walk walk = {.device = device, .data = data, .visit = take_one, .uniform = true};
	int r;

	*ret = (struct snapshot){.device = device};
	if (device->bytes > 4ull * ERASE_EDGE && device->bytes / SAMPLES_LEAST >= SAMPLE)
		ret->samples = samples_count(device->bytes);
	ret->count = ret->samples ? 2 * EDGE_BLOCKS + ret->samples : (device->bytes + SAMPLE - 1) / SAMPLE;
	ret->held = walk.held = calloc(ret->count + 1, sizeof(*ret->held));
	if (!data || !ret->held || RAND_bytes(ret->seed, SEED) != 1)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "samples of %s", device->name);
	r = walk_all(&walk, ret, fault);
	ret->uniform = walk.uniform;
	return r;
}

static int compare_one(struct walk *w, uint64_t index, uint64_t offset, uint64_t held, uint32_t size) {
	uint64_t was = w->snapshot->held[index];

	if (held == HELD_UNREADABLE) {
		bad_ranges_add(&w->erase->bad, offset, size);
		return 0;
	}
	w->erase->read += size;
	w->uniform &= held == HELD_UNIFORM;
	if (was == HELD_UNREADABLE || was == HELD_UNIFORM)
		return 0;
	w->erase->compared++;
	w->wrong = offset;
	return held == was;
}

static int like_the_others(struct walk *w, uint64_t index, uint64_t offset, uint64_t held, uint32_t size) {
	(void)index;
	if (held == HELD_UNREADABLE)
		bad_ranges_add(&w->erase->bad, offset, size);
	else
		w->erase->read += size;
	w->wrong = offset;
	return held != HELD_UNREADABLE && held != HELD_UNIFORM;
}

int snapshot_compare(const struct snapshot *snapshot, struct erase *erase, struct progress *progress,
		     uint64_t *ret_offset, struct fault *fault) {
	cleanup_free unsigned char *data = device_buffer(BLOCK);
	struct walk walk = {.device = snapshot->device,
			    .data = data,
			    .visit = compare_one,
			    .snapshot = snapshot,
			    .erase = erase,
			    .uniform = true};
	int r = data ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "reading back");

	erase->read = erase->compared = 0;
	erase->samples = snapshot->samples;
	memcpy(erase->seed, snapshot->seed, SEED);
	if (r == 0)
		r = walk_all(&walk, snapshot, fault);
	if (r == 0 && erase->full && walk.uniform && snapshot->samples) {
		walk.visit = like_the_others;
		erase->read = erase->samples = 0;
		progress_begin(progress, snapshot->device->bytes);
		r = walk_long(&walk, 0, 0, snapshot->device->bytes, progress, fault);
	}
	*ret_offset = walk.wrong;
	return r;
}

void snapshot_free(struct snapshot *snapshot) {
	free(snapshot->held);
	*snapshot = (struct snapshot){0};
}
