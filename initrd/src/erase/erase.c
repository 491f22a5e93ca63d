// SPDX-License-Identifier: Apache-2.0
#include "erase/erase.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "erase/level.h"
#include "erase/overwrite.h"
#include "erase/pattern.h"
#include "erase/readback.h"

#define DISCARD_SLICE ((uint64_t)1 << 30)
#define DISCARD_OVERLAP ((uint64_t)64 << 20) // of two slices: no smaller unit is cut by both

int erase_judge_bad(const struct device *device, const struct erase *erase, struct fault *fault) {
	cleanup_with(text_free) struct text ranges = {0};

	if (erase->bad.count == 0)
		return 0;
	bad_ranges_write(&erase->bad, 400, &ranges);
	return fault_set(fault, CODE_FAILED, "%s: %u ranges, %llu bytes, cannot be written or read: %s", device->name,
			 erase->bad.count, (unsigned long long)erase->bad.bytes, text_string(&ranges));
}

// The result of reading back, as one of erase_disk.
static int judge(const struct device *device, const struct erase *erase, int r, uint64_t offset, struct fault *fault) {
	if (r > 0)
		return fault_set(fault, CODE_INTEGRITY, "%s: byte %llu does not hold what was written (%s)",
				 device->name, (unsigned long long)offset, erase->method);
	return r < 0 ? r : erase_judge_bad(device, erase, fault);
}

// 0: discarded, and the disk has it stored; 1: the disk cannot discard, or did not discard everything. A disk ignores
// units of which a call names a part only (SBC-4 4.7.3.5, thin chunks, RAID stripes), and not every one reports how
// large they are: so each call starts before the end of the last one.
static int discard_all(struct device *device, struct progress *progress) {
	struct fault ignored;

	for (uint64_t at = 0; at < device->bytes;) {
		uint64_t from = at > DISCARD_OVERLAP ? at - DISCARD_OVERLAP : 0;
		uint64_t end = at + least(device->bytes - at, DISCARD_SLICE);
		int r = device->ops->discard(device, from, end - from);
		if (r == -EINTR)
			continue;
		if (r < 0)
			return 1;
		at = end;
		progress_tick(progress, at);
	}
	return device_sync(device, &ignored) < 0;
}

// Overwrites all of the disk and reads it back.
static int overwrite_all(struct device *device, struct erase *erase, struct pattern *pattern, struct progress *progress,
			 struct fault *fault) {
	uint64_t done = 0, offset = 0;
	int r;

	erase->bad = (struct bad_ranges){0};
	progress_begin(progress, device->bytes);
	r = overwrite_range(device, pattern, 0, device->bytes, erase, progress, &done, fault);
	if (r == 0)
		r = device_sync(device, fault);
	if (r == 0)
		r = readback(device, erase, pattern, progress, &offset, fault);
	return judge(device, erase, r, offset, fault);
}

static int empty(struct device *device, struct erase *erase, struct progress *progress, struct fault *fault) {
	uint64_t offset;
	int r;

	erase->method = "discard";
	progress_begin(progress, device->bytes);
	r = discard_all(device, progress);
	if (r == 0)
		r = readback(device, erase, NULL, progress, &offset, fault);
	if (r == 0 && erase->bad.count == 0)
		return 0;
	erase->method = "zeros";
	return overwrite_all(device, erase, NULL, progress, fault);
}

static int clear(struct device *device, struct erase *erase, struct progress *progress, struct fault *fault) {
	cleanup_with(pattern_free) struct pattern *pattern = NULL;
	int r = pattern_new(&pattern, fault);

	erase->method = "overwrite";
	return r == 0 ? overwrite_all(device, erase, pattern, progress, fault) : r;
}

struct range {
	uint64_t offset, size;
};

static size_t edges(uint64_t start, uint64_t bytes, struct range *ret) {
	if (bytes <= 2ull * ERASE_EDGE) {
		ret[0] = (struct range){start, bytes};
		return 1;
	}
	ret[0] = (struct range){start, ERASE_EDGE};
	ret[1] = (struct range){start + bytes - ERASE_EDGE, ERASE_EDGE};
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

static int signatures(struct device *device, struct erase *erase, struct progress *progress, struct fault *fault) {
	struct range ranges[2 * (PARTITIONS_MAX + 1)];
	size_t count = all_edges(device, ranges);
	uint64_t total = 0, done = 0, offset = 0;
	int r = 0;

	erase->method = "zeros";
	for (size_t i = 0; i < count; i++)
		total += ranges[i].size;
	progress_begin(progress, total);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = overwrite_range(device, NULL, ranges[i].offset, ranges[i].size, erase, progress, &done, fault);
	if (r == 0)
		r = device_sync(device, fault);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = readback_range(device, erase, NULL, ranges[i].offset, ranges[i].size, &offset, fault);
	return judge(device, erase, r, offset, fault);
}

int erase_disk(struct device *device, struct erase *erase, struct progress *progress, struct fault *fault) {
	static int (*const work[])(struct device *, struct erase *, struct progress *, struct fault *) = {
		[ERASE_SIGNATURES] = signatures, [ERASE_EMPTY] = empty, [ERASE_CLEAR] = clear};
	int64_t started = clock_now();
	int r;

	if (erase_level_is_command(erase->level, erase->by))
		return fault_set(fault, CODE_UNSUPPORTED, "%s offers no command that erases it; nothing was touched",
				 device->name);
	r = work[erase->level](device, erase, progress, fault);

	erase->seconds = (double)(clock_now() - started) / SECOND;
	if (r == 0)
		progress_end(progress);
	device_reread(device);
	return r;
}
