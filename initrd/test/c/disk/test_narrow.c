// SPDX-License-Identifier: Apache-2.0
// A device that is one partition of a disk: no operation reaches a byte outside of it.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "disk/ahead.h"
#include "disk/queue.h"
#include "tap.h"

#define DISK ((uint64_t)8 << 20)
#define START ((uint64_t)63 * 512)
#define BYTES ((uint64_t)3 * BLOCK + 512)

static const struct partition partition = {START, BYTES};

static bool open_narrow(struct device *ret) {
	cleanup_free uint8_t *old = malloc(DISK);
	char path[256];
	struct fault fault;

	snprintf(path, sizeof(path), "%s/narrow", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	(void)unlink(path);
	if (!old || device_open_file(path, DISK, 512, ret, &fault) < 0)
		return false;
	memset(old, 0xa5, DISK);
	(void)fcntl(ret->fd, F_SETFL, 0); // without O_DIRECT: places of 512 bytes
	if (device_write(ret, old, DISK, 0, &fault) < 0)
		return false;
	device_narrow(ret, &partition, 2);
	return true;
}

static bool is_old(const struct device *device, uint64_t from, uint64_t to) {
	cleanup_free uint8_t *data = malloc(to - from);
	bool old = data && pread(device->fd, data, to - from, (off_t)from) == (ssize_t)(to - from);

	for (uint64_t i = 0; old && i < to - from; i++)
		old = data[i] == 0xa5;
	return old;
}

static bool outside_is_old(const struct device *device) {
	return is_old(device, 0, START) && is_old(device, START + BYTES, DISK);
}

// Around both ends, and where an offset wraps.
static void check_outside(struct device *device) {
	static const uint64_t places[][2] = {
		{BYTES, 512},
		{BYTES - 512, 1024},
		{0, BYTES + 512},
		{UINT64_MAX - 511, 512},
		{UINT64_MAX - START + 1, 512},
		{UINT64_MAX, UINT64_MAX},
		{DISK, 512},
		{512, UINT64_MAX - 256},
	};
	uint8_t data[1024] = {0};

	for (size_t i = 0; i < ELEMENTS(places); i++) {
		uint64_t at = places[i][0], size = places[i][1];
		bool small = size <= sizeof(data);
		ok((!small || (device->ops->pwrite(device, data, size, at) == -ERANGE &&
			       device->ops->pread(device, data, size, at) == -ERANGE)) &&
			   device->ops->zero(device, at, size) == -ERANGE &&
			   device->ops->discard(device, at, size) == -ERANGE,
		   "%llu bytes at %llu are refused", (unsigned long long)size, (unsigned long long)at);
	}
}

static void check_queue(struct device *device) {
	cleanup_with(queue_close) struct queue *queue = NULL;
	struct fault fault;
	uint8_t *data;

	ok(queue_open(device, QUEUE_DEPTH, &queue, &fault) == 0 && queue_take(queue, &data, &fault) == 0, "a queue");
	memset(data, 0x11, BLOCK);
	ok(queue_write(queue, 0, 1024, BYTES - 512, &fault) < 0, "behind the end: %s", fault.text);
	ok(queue_write(queue, 0, 512, UINT64_MAX - 511, &fault) < 0, "before the start: %s", fault.text);
	ok(queue_write(queue, 0, BLOCK, 0, &fault) == 0 && queue_write(queue, 0, 512, BYTES - 512, &fault) == 0 &&
		   queue_finish(queue, &fault) == 0,
	   "the first and the last bytes");
}

static void check_ahead(struct device *device) {
	cleanup_with(ahead_close) struct ahead *ahead = NULL;
	uint64_t at, good = 0;
	const uint8_t *data;
	struct fault fault;
	uint32_t n;
	int r;

	ok(ahead_open(device, 0, BYTES + BLOCK, AHEAD_DEPTH, &ahead, &fault) == 0, "reading past the end");
	while ((r = ahead_next(ahead, &data, &at, &n)) != 0)
		good += r > 0 ? n : 0;
	ok(good == 3 * BLOCK, "%llu bytes are read: the block that reaches outside is not", (unsigned long long)good);
}

int main(void) {
	struct device device = {.fd = -1};
	uint8_t first, last;
	struct fault fault;

	if (!ok(open_narrow(&device), "a file of a disk"))
		return tap_done();
	ok(strstr(device.name, ", partition 2") != NULL, "%s", device.name);
	check_outside(&device);
	ok(is_old(&device, 0, DISK), "nothing has changed");
	check_queue(&device);
	check_ahead(&device);
	ok(pread(device.fd, &first, 1, START) == 1 && pread(device.fd, &last, 1, START + BYTES - 1) == 1 &&
		   first == 0x11 && last == 0x11,
	   "both ends of the partition are written");
	ok(outside_is_old(&device), "nothing outside has changed");
	ok(device_zero(&device, 0, BYTES, &fault) == 0 && outside_is_old(&device), "nor by zeroing all of it");
	device_close(&device);
	return tap_done();
}
