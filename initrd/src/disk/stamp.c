// SPDX-License-Identifier: Apache-2.0
#include "disk/stamp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/number.h"

#define MAGIC "sled stamp 1 "
#define HEXADECIMAL "0123456789abcdef"
#define PARTS 5u
#define VALUE 256u // bytes, with room to spare

// Copies `from` if it has the form of `form`, in which x is a hexadecimal digit in lower case.
static bool take(const char *from, const char *form, char *ret) {
	size_t size = strlen(form);
	bool right = strlen(from) == size;

	for (size_t i = 0; right && i < size; i++)
		right = form[i] == 'x' ? strchr(HEXADECIMAL, from[i]) != NULL : from[i] == form[i];
	if (right)
		memcpy(ret, from, size + 1);
	return right;
}

static bool parse(const char *value, struct stamp *ret) {
	static const char uuid[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", mac[] = "xx-xx-xx-xx-xx-xx";
	char copy[VALUE], *rest = copy, *parts[PARTS] = {0};

	if (strlen(value) >= sizeof(copy))
		return false;
	memcpy(copy, value, strlen(value) + 1);
	for (size_t i = 0; i < PARTS; i++)
		if (!(parts[i] = strsep(&rest, "/")))
			return false;
	return !rest && take(parts[0], uuid, ret->fleet) && take(parts[1], uuid, ret->epoch) &&
	       take(parts[2], mac, ret->mac) && number_parse(parts[3], NUMBER_MAX, &ret->generation) == 0 &&
	       number_parse(parts[4], NUMBER_MAX, &ret->run) == 0;
}

int stamp_parse(const char *value, struct stamp *ret, struct fault *fault) {
	if (parse(value, ret))
		return 0;
	return fault_set(fault, CODE_USAGE, "\"%.200s\" is not a stamp: want FLEET/EPOCH/MAC/GENERATION/RUN", value);
}

bool stamp_read(const uint8_t *granule, struct stamp *ret) {
	const size_t magic = sizeof(MAGIC) - 1;
	const uint8_t *end = memchr(granule, '\n', magic + VALUE);
	char value[VALUE + 1];
	size_t size;

	if (!end || (size_t)(end - granule) < magic || memcmp(granule, MAGIC, magic) != 0)
		return false;
	size = (size_t)(end - granule) - magic;
	memcpy(value, granule + magic, size);
	value[size] = 0;
	return strlen(value) == size && is_zero(end + 1, STAMP_BYTES - (size_t)(end + 1 - granule)) &&
	       parse(value, ret);
}

bool stamp_is_ahead(const struct stamp *disk, const struct stamp *known) {
	if (strcmp(disk->fleet, known->fleet) != 0)
		return false;
	if (strcmp(disk->epoch, known->epoch) != 0)
		return true;
	return !strcmp(disk->mac, known->mac) && disk->run > known->run;
}

int stamp_admit(struct device *device, const char *value, struct fault *fault) {
	cleanup_free uint8_t *granule = device_buffer(STAMP_BYTES);
	struct stamp disk, known;
	struct fault ignored;
	int r;

	if (!value || device->bytes < BLOCK)
		return 0;
	if (!granule)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "stamp");
	if ((r = stamp_parse(value, &known, fault)) < 0)
		return r;
	// A disk that cannot be read there may still have to be erased.
	if (device_read(device, granule, STAMP_BYTES, STAMP_AT, &ignored) < 0 || !stamp_read(granule, &disk) ||
	    !stamp_is_ahead(&disk, &known))
		return 0;
	return fault_set(fault, CODE_DISK,
			 "%s is ahead of the plan: it was written for %s by run %" PRIu64 ", generation %" PRIu64
			 ", of epoch %s; the store has epoch %s and knows of run %" PRIu64
			 ". Was an older store put back? Nothing is touched until the node is released",
			 device->name, disk.mac, disk.run, disk.generation, disk.epoch, known.epoch, known.run);
}

// A disk without partitions may be all filesystem, or a volume of LVM with its metadata there.
static int check_place(const struct device *device, struct fault *fault) {
	if (device->bytes < BLOCK || device->partition_count == 0)
		return fault_set(fault, CODE_UNSUPPORTED, "%s has no partition table with room for a stamp",
				 device->name);
	for (size_t i = 0; i < device->partition_count; i++)
		if (device->partitions[i].start < BLOCK)
			return fault_set(fault, CODE_UNSUPPORTED, "a partition of %s starts before 1 MiB",
					 device->name);
	return 0;
}

int stamp_put(struct device *device, const char *value, struct fault *fault) {
	cleanup_free uint8_t *granule = device_buffer(STAMP_BYTES);
	struct stamp stamp;
	int r = stamp_parse(value, &stamp, fault);

	if (r == 0 && !granule)
		r = fault_errno(fault, CODE_FAILED, ENOMEM, "stamp");
	if (r == 0)
		r = check_place(device, fault);
	if (r == 0)
		r = device_read(device, granule, STAMP_BYTES, STAMP_AT, fault);
	if (r == 0 && !is_zero(granule, STAMP_BYTES) && !stamp_read(granule, &stamp))
		r = fault_set(fault, CODE_UNSUPPORTED, "%s has other bytes before 1 MiB", device->name);
	if (r < 0)
		return r;
	memset(granule, 0, STAMP_BYTES);
	snprintf((char *)granule, STAMP_BYTES, MAGIC "%s\n", value);
	r = device_write(device, granule, STAMP_BYTES, STAMP_AT, fault);
	return r == 0 ? device_sync(device, fault) : r;
}
