// SPDX-License-Identifier: Apache-2.0
#include "erase/readback.h"

#include <errno.h>
#include <string.h>

#include <openssl/rand.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "disk/ahead.h"

struct pass {
	struct device *device;
	struct erase *erase;
	struct pattern *pattern;
	unsigned char *data; // of BLOCK bytes
	uint64_t wrong;	     // offset of the first byte that is wrong
};

// 0: as it should be; 1: not; else an error.
static int check_data(struct pass *p, const uint8_t *data, uint64_t offset, uint32_t size, struct fault *fault) {
	uint32_t at = 0;
	int r = 0;

	p->erase->read += size;
	if (p->pattern)
		r = pattern_check(p->pattern, data, offset, size, &at, fault);
	else if (!is_zero(data, size)) {
		while (data[at] == 0)
			at++;
		r = 1;
	}
	p->wrong = offset + at;
	return r;
}

// As check_data; an error also if it could not be read.
static int check_once(struct pass *p, uint64_t offset, uint32_t size, struct fault *fault) {
	int r = device_read(p->device, p->data, size, offset, fault);

	return r < 0 ? r : check_data(p, p->data, offset, size, fault);
}

// As check_once for a range of at most BLOCK; what cannot be read is added to the bad ranges.
static int check_block(struct pass *p, uint64_t offset, uint32_t size, struct fault *fault) {
	uint32_t grain = p->device->sector > GRAIN ? p->device->sector : GRAIN;
	int r = bad_ranges_has(&p->erase->bad, offset, size) ? -EIO : check_once(p, offset, size, fault);

	if (r >= 0 || device_is_gone(r))
		return r;
	for (uint64_t at = offset; at < offset + size; at += grain) {
		uint32_t n = (uint32_t)least(grain, offset + size - at);
		if (bad_ranges_has(&p->erase->bad, at, n))
			continue;
		r = check_once(p, at, n, fault);
		if (r > 0 || (r < 0 && device_is_gone(r)))
			return r;
		if (r < 0)
			bad_ranges_add(&p->erase->bad, at, n);
	}
	return 0;
}

static bool is_known_bad(const void *context, uint64_t offset, uint64_t size) {
	return bad_ranges_has(context, offset, size);
}

// All blocks of `ahead`, which is open unless `r` is an error.
static int check_blocks(struct pass *p, struct ahead *ahead, int r, struct progress *progress, struct fault *fault) {
	const uint8_t *data;
	uint64_t at;
	uint32_t n;
	int got;

	if (r == 0)
		ahead_leave_out(ahead, is_known_bad, &p->erase->bad);
	while (r == 0 && (got = ahead_next(ahead, &data, &at, &n)) != 0) {
		r = got > 0 ? check_data(p, data, at, n, fault) : check_block(p, at, n, fault);
		if (progress)
			progress_tick(progress, at + n);
	}
	return r;
}

static int check_range(struct pass *p, uint64_t offset, uint64_t size, struct progress *progress, struct fault *fault) {
	cleanup_with(ahead_close) struct ahead *ahead = NULL;
	unsigned depth = p->erase->parallel > ERASE_FEW ? AHEAD_DEPTH : AHEAD_MOST;
	int r = ahead_open(p->device, offset, size, depth, &ahead, fault);

	return check_blocks(p, ahead, r, progress, fault);
}

static uint64_t sample_at(const void *context, uint64_t i) {
	const struct pass *p = context;
	return samples_offset(p->erase->seed, p->device->bytes, p->erase->samples, i);
}

static int check_samples(struct pass *p, struct fault *fault) {
	cleanup_with(ahead_close) struct ahead *ahead = NULL;
	int r;

	if (RAND_bytes(p->erase->seed, SEED) != 1)
		return fault_errno(fault, CODE_FAILED, EIO, "random numbers");
	p->erase->samples = samples_count(p->device->bytes);
	r = ahead_open_samples(p->device, p->erase->samples, SAMPLE, sample_at, p, &ahead, fault);
	return check_blocks(p, ahead, r, NULL, fault);
}

static int check_all(struct pass *p, struct progress *progress, struct fault *fault) {
	uint64_t bytes = p->device->bytes;
	int r;

	// small enough to read all of it
	if (p->erase->full || bytes <= 4ull * ERASE_EDGE || bytes / SAMPLES_LEAST < SAMPLE) {
		progress_begin(progress, bytes);
		return check_range(p, 0, bytes, progress, fault);
	}
	r = check_range(p, 0, ERASE_EDGE, NULL, fault);
	if (r == 0)
		r = check_range(p, bytes - ERASE_EDGE, ERASE_EDGE, NULL, fault);
	return r == 0 ? check_samples(p, fault) : r;
}

static int prepare(struct pass *p, struct fault *fault) {
	p->data = device_buffer(BLOCK);
	return p->data ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "reading back");
}

static int finish(struct pass *p, int r, uint64_t *ret_offset) {
	*ret_offset = p->wrong;
	free(p->data);
	return r;
}

int readback(struct device *device, struct erase *erase, struct pattern *pattern, struct progress *progress,
	     uint64_t *ret_offset, struct fault *fault) {
	struct pass p = {.device = device, .erase = erase, .pattern = pattern};
	int r = prepare(&p, fault);

	erase->read = erase->samples = 0;
	return finish(&p, r == 0 ? check_all(&p, progress, fault) : r, ret_offset);
}

int readback_range(struct device *device, struct erase *erase, struct pattern *pattern, uint64_t offset, uint64_t size,
		   uint64_t *ret_offset, struct fault *fault) {
	struct pass p = {.device = device, .erase = erase, .pattern = pattern};
	int r = prepare(&p, fault);

	return finish(&p, r == 0 ? check_range(&p, offset, size, NULL, fault) : r, ret_offset);
}
