// SPDX-License-Identifier: Apache-2.0
// Reading ahead: every block once and in order, whatever its neighbours do; with io_uring and without.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "disk/ahead.h"
#include "memory_disk.h"
#include "tap.h"

#define MIB ((uint64_t)1 << 20)

static uint8_t byte_at(uint64_t at) { return (uint8_t)(at * 2654435761u >> 13); }

static bool holds(const uint8_t *data, uint64_t offset, uint32_t size) {
	for (uint32_t i = 0; i < size; i++)
		if (data[i] != byte_at(offset + i))
			return false;
	return true;
}

// Reads the range. Returns the bytes of good blocks, all of which hold what they should; counts the others.
static uint64_t read_range(struct device *device, uint64_t offset, uint64_t size, ahead_skip *skip, unsigned *failed) {
	cleanup_with(ahead_close) struct ahead *ahead = NULL;
	uint64_t good = 0, at = 0, expected = offset;
	const uint8_t *data;
	struct fault fault;
	uint32_t n = 0;
	int r;

	*failed = 0;
	if (ahead_open(device, offset, size, size % (2 * MIB) ? AHEAD_DEPTH : AHEAD_MOST, &ahead, &fault) < 0)
		return UINT64_MAX;
	ahead_leave_out(ahead, skip, &expected);
	while ((r = ahead_next(ahead, &data, &at, &n)) != 0) {
		if (at != expected || (r > 0 && !holds(data, at, n)))
			return UINT64_MAX;
		*failed += r < 0;
		good += r > 0 ? n : 0;
		expected = at + n;
	}
	return expected == offset + size ? good : UINT64_MAX;
}

static bool third(const void *context, uint64_t offset, uint64_t size) {
	(void)context;
	return size > 0 && offset == 2 * MIB;
}

#define SAMPLES 100u // more than are under way

// Some of them behind the ones that follow, some twice.
static uint64_t place(const void *context, uint64_t i) { return *(const unsigned *)context * (i * 37 % 89) * 4096; }

static bool reads_samples(struct device *device, unsigned apart, uint64_t bad_at) {
	cleanup_with(ahead_close) struct ahead *ahead = NULL;
	const uint8_t *data;
	struct fault fault;
	uint64_t at, i = 0;
	bool right = ahead_open_samples(device, SAMPLES, 4096, place, &apart, &ahead, &fault) == 0;
	uint32_t n;
	int r;

	for (; right && (r = ahead_next(ahead, &data, &at, &n)) != 0; i++)
		right = at == place(&apart, i) && n == 4096 && (at == bad_at ? r < 0 : r > 0 && holds(data, at, n));
	return right && i == SAMPLES;
}

static void check(struct device *device, const char *what) {
	unsigned failed;

	ok(reads_samples(device, 2, UINT64_MAX), "%s: samples", what);
	ok(reads_samples(device, 0, UINT64_MAX), "%s: one sample again and again", what);

	ok(read_range(device, 0, 9 * MIB + 8192, NULL, &failed) == 9 * MIB + 8192 && !failed, "%s: all", what);
	ok(read_range(device, 4096, 4096, NULL, &failed) == 4096 && !failed, "%s: less than a block", what);
	ok(read_range(device, 3 * MIB, MIB, NULL, &failed) == MIB && !failed, "%s: one", what);
	ok(read_range(device, 0, 0, NULL, &failed) == 0 && !failed, "%s: nothing", what);
	ok(read_range(device, 0, 9 * MIB, third, &failed) == 8 * MIB && failed == 1, "%s: one is left out", what);
}

int main(void) {
	struct memory_disk m;
	struct device memory = memory_open(&m, 10 * MIB, 512), file = {.fd = -1};
	char path[] = "/tmp/test_ahead.XXXXXX";
	struct fault fault;
	unsigned failed;
	int fd = mkstemp(path);

	for (uint64_t at = 0; at < m.bytes; at++)
		m.data[at] = byte_at(at);
	check(&memory, "memory");
	m.bad_from = 5 * MIB + 512;
	m.bad_to = m.bad_from + 1;
	ok(read_range(&memory, 0, 10 * MIB, NULL, &failed) == 9 * MIB && failed == 1, "memory: one is bad");
	m.bad_from = 8 * 4096;
	m.bad_to = m.bad_from + 1;
	ok(reads_samples(&memory, 4, 8 * 4096), "memory: one sample is bad");
	ok(fd >= 0 && write(fd, m.data, m.bytes) == (ssize_t)m.bytes && close(fd) == 0 &&
		   device_open_file(path, m.bytes, 512, &file, &fault) == 0,
	   "a file is made");
	check(&file, "file");
	ok(truncate(path, 7 * MIB + 512) == 0 && read_range(&file, 0, 10 * MIB, NULL, &failed) == 7 * MIB &&
		   failed == 3,
	   "file: what is behind its end cannot be read");
	unlink(path);
	device_close(&file);
	free(m.data);
	return tap_done();
}
