// SPDX-License-Identifier: Apache-2.0
#include "disk/wipe.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/cleanup.h"

#define DISCARD_SLICE ((uint64_t)1 << 30)
#define ZERO_SLICE ((uint64_t)128 << 20) // small enough that a slow disk still shows progress

static bool all_zero(const unsigned char *data, size_t size) {
	return size == 0 || (data[0] == 0 && !memcmp(data, data + 1, size - 1));
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

// 0: reads as zero; 1: does not.
static int check_range(struct device *device, uint64_t offset, uint64_t size, unsigned char *buffer,
		       uint64_t *ret_offset,
		       struct fault *fault) {
	while (size > 0) {
		size_t n = (size_t)least(size, BLOCK);
		int r = device_read(device, buffer, n, offset, fault);
		if (r < 0)
			return r;
		if (!all_zero(buffer, n)) {
			*ret_offset = offset;
			return 1;
		}
		offset += n;
		size -= n;
	}
	return 0;
}

// Samples are at random places, so that a disk cannot pass by returning zeros only at the usual ones.
static int check_samples(struct device *device, unsigned char *buffer, uint64_t *ret_offset, struct fault *fault) {
	// Parts are multiples of a sample; the rest at the end is smaller than the edge.
	uint64_t choices = device->bytes / WIPE_SAMPLES / WIPE_SAMPLE;
	uint64_t random[WIPE_SAMPLES];

	for (size_t got = 0; got < sizeof(random);) {
		ssize_t n = getrandom((char *)random + got, sizeof(random) - got, 0);
		if (n < 0 && errno != EINTR)
			return fault_errno(fault, CODE_FAILED, errno, "random numbers");
		got += n > 0 ? (size_t)n : 0;
	}
	for (size_t i = 0; i < WIPE_SAMPLES; i++) {
		uint64_t offset = (i * choices + random[i] % choices) * WIPE_SAMPLE;
		int r = check_range(device, offset, WIPE_SAMPLE, buffer, ret_offset, fault);
		if (r != 0)
			return r;
	}
	return 0;
}

int wipe_check(struct device *device, uint64_t *ret_offset, struct fault *fault) {
	cleanup_free unsigned char *buffer = device_buffer(BLOCK);
	int r;

	if (!buffer)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "wipe");
	if (device->bytes <= 4ull * WIPE_EDGE) // small enough to read all of it
		return check_range(device, 0, device->bytes, buffer, ret_offset, fault);
	r = check_range(device, 0, WIPE_EDGE, buffer, ret_offset, fault);
	if (r == 0)
		r = check_range(device, device->bytes - WIPE_EDGE, WIPE_EDGE, buffer, ret_offset, fault);
	return r == 0 ? check_samples(device, buffer, ret_offset, fault) : r;
}

// 0: discarded; 1: the disk cannot discard, or did not discard everything.
static int discard_all(struct device *device, struct progress *progress) {
	for (uint64_t at = 0; at < device->bytes;) {
		uint64_t n = least(device->bytes - at, DISCARD_SLICE);
		int r = device->ops->discard(device, at, n);
		if (r == -EINTR)
			continue;
		if (r < 0)
			return 1;
		at += n;
		progress_tick(progress, at);
	}
	return 0;
}

static int zero_range(struct device *device, uint64_t offset, uint64_t size, struct progress *progress, uint64_t *done,
		      struct fault *fault) {
	while (size > 0) {
		uint64_t n = least(size, ZERO_SLICE);
		int r = device_zero(device, offset, n, fault);
		if (r < 0)
			return r;
		offset += n;
		size -= n;
		progress_tick(progress, *done += n);
	}
	return 0;
}

static int zero_all(struct device *device, struct progress *progress, struct fault *fault) {
	uint64_t done = 0, offset = 0;
	int r;

	progress_begin(progress, device->bytes);
	r = zero_range(device, 0, device->bytes, progress, &done, fault);
	if (r == 0)
		r = device_sync(device, fault);
	if (r == 0)
		r = wipe_check(device, &offset, fault);
	if (r > 0)
		return fault_set(fault, CODE_INTEGRITY,
			"%s: byte range at %llu does not read as zero after zeros were written",
				 device->name, (unsigned long long)offset);
	return r;
}

int wipe_clear(struct device *device, struct progress *progress, struct fault *fault) {
	uint64_t offset;
	int r;

	progress_begin(progress, device->bytes);
	r = discard_all(device, progress);
	if (r == 0)
		r = wipe_check(device, &offset, fault);
	if (r > 0)
		r = zero_all(device, progress, fault);
	if (r == 0) {
		progress_end(progress);
		device_reread(device);
	}
	return r;
}

struct range {
	uint64_t offset, size;
};

static size_t edges(uint64_t start, uint64_t bytes, struct range *ret) {
	if (bytes <= 2ull * WIPE_EDGE) {
		ret[0] = (struct range){start, bytes};
		return 1;
	}
	ret[0] = (struct range){start, WIPE_EDGE};
	ret[1] = (struct range){start + bytes - WIPE_EDGE, WIPE_EDGE};
	return 2;
}

// Ignores what lies outside the disk: a partition table may contain anything.
static size_t all_edges(const struct device *device, struct range *ret) {
	size_t n = edges(0, device->bytes, ret);

	for (size_t i = 0; i < device->partition_count; i++) {
		const struct partition *p = &device->partitions[i];
		if (p->start < device->bytes)
			n += edges(p->start, least(p->bytes, device->bytes - p->start), ret + n);
	}
	return n;
}

int wipe_signatures(struct device *device, struct progress *progress, struct fault *fault) {
	struct range ranges[2 * (PARTITIONS_MAX + 1)];
	size_t count = all_edges(device, ranges);
	cleanup_free unsigned char *buffer = device_buffer(BLOCK);
	uint64_t total = 0, done = 0, offset = 0;
	int r = buffer ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "wipe");

	for (size_t i = 0; i < count; i++)
		total += ranges[i].size;
	progress_begin(progress, total);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = zero_range(device, ranges[i].offset, ranges[i].size, progress, &done, fault);
	if (r == 0)
		r = device_sync(device, fault);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = check_range(device, ranges[i].offset, ranges[i].size, buffer, &offset, fault);
	if (r > 0)
		return fault_set(fault, CODE_INTEGRITY,
			"%s: byte range at %llu does not read as zero after zeros were written",
				 device->name, (unsigned long long)offset);
	if (r == 0) {
		progress_end(progress);
		device_reread(device);
	}
	return r;
}
