// SPDX-License-Identifier: Apache-2.0
#include "disk/grow.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "disk/gpt.h"
#include "disk/mbr.h"

// Work of one disk: sectors as they are read and will be written.
struct table {
	struct device *device;
	uint64_t sectors;
	uint8_t *first, *header, *entries;
	struct gpt gpt;
	grow_limit *limit;
	void *context;
	struct grown grown;
};

static int read_header(struct table *t, uint64_t lba, struct fault *fault) {
	uint32_t sector = t->device->sector;
	int r = device_read(t->device, t->header, sector, lba * sector, fault);

	if (r == 0 && gpt_read(t->header, sector, lba, t->sectors, &t->gpt) < 0)
		r = 1;
	if (r == 0)
		r = device_read(t->device, t->entries, gpt_entries_size(&t->gpt), t->gpt.entries * sector, fault);
	if (r == 0 && gpt_check_entries(&t->gpt, t->entries) < 0)
		r = 1;
	return r;
}

// The first header, or if it is damaged the copy at the disk's end. A copy elsewhere is not searched.
static int read_table(struct table *t, struct fault *fault) {
	int r = read_header(t, 1, fault);

	if (r > 0)
		r = read_header(t, t->sectors - 1, fault);
	if (r > 0 && t->device->sector > 512 && !memcmp(t->first + 512, "EFI PART", 8))
		return fault_set(fault, CODE_UNSUPPORTED,
				 "%s has sectors of %u bytes, but the image was made for sectors of 512",
				 t->device->name, t->device->sector);
	if (r > 0)
		return fault_set(fault, CODE_INTEGRITY, "%s: both copies of its GPT are damaged", t->device->name);
	return r;
}

// Writes the copy first: whenever the power fails, one of the two is intact.
static int write_table(struct table *t, bool copy, struct fault *fault) {
	uint32_t sector = t->device->sector;
	uint64_t entries_at = gpt_entries_at(&t->gpt, copy), header_at = copy ? t->gpt.other : t->gpt.own;
	int r = device_write(t->device, t->entries, gpt_entries_size(&t->gpt), entries_at * sector, fault);

	gpt_write(&t->gpt, copy, t->header);
	if (r == 0)
		r = device_write(t->device, t->header, sector, header_at * sector, fault);
	return r == 0 ? device_sync(t->device, fault) : r;
}

static int write_first(struct table *t, struct fault *fault) {
	int r = device_write(t->device, t->first, t->device->sector, 0, fault);
	return r == 0 ? device_sync(t->device, fault) : r;
}

// In sectors. `room`: where the partition could end at most.
static uint64_t find_limit(struct table *t, unsigned number, uint64_t start, uint64_t end, uint64_t room) {
	uint32_t sector = t->device->sector;

	t->grown = (struct grown){.last = number, .start = start * sector, .end = end * sector, .room = room * sector};
	return number && t->limit ? t->limit(t->context, t->grown.start, t->grown.end) / sector : 0;
}

// Whether bytes that are neither a copy of the GPT nor zeros are where it belongs.
static int is_held(struct table *t, bool *ret, struct fault *fault) {
	uint32_t sector = t->device->sector;
	size_t size = gpt_entries_size(&t->gpt) + sector;
	cleanup_free uint8_t *there = device_buffer(size);
	struct gpt copy;
	int r = there ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "grow");

	if (r == 0)
		r = device_read(t->device, there, size, t->sectors * sector - size, fault);
	*ret = r == 0 && !is_zero(there, size) &&
	       gpt_read(there + size - sector, sector, t->sectors - 1, t->sectors, &copy) < 0;
	return r;
}

static int grow_gpt(struct table *t, struct fault *fault) {
	uint64_t start = 0, end = 0, room, limit;
	int r = read_table(t, fault);
	unsigned number;

	if (r < 0)
		return r;
	if (t->sectors < 2 + gpt_entries_size(&t->gpt) / t->gpt.sector)
		return fault_set(fault, CODE_DISK, "%s is too small for its partition table", t->device->name);
	room = t->sectors - gpt_entries_size(&t->gpt) / t->gpt.sector - 1;
	number = gpt_last(&t->gpt, t->entries, &start, &end);
	limit = find_limit(t, number, start, end, room);
	r = is_held(t, &t->grown.is_held, fault);
	if (r < 0 || t->grown.is_held)
		return r;
	if (gpt_grow(&t->gpt, t->entries, limit, &t->grown.bytes) < 0)
		return fault_set(fault, CODE_DISK, "%s is too small for its partition table", t->device->name);
	r = write_table(t, true, fault);
	if (r == 0)
		r = write_table(t, false, fault);
	if (r == 0 && mbr_protect(t->first, t->sectors))
		r = write_first(t, fault);
	return r;
}

static int grow_mbr(struct table *t, struct fault *fault) {
	uint64_t start, end, room = t->sectors < UINT32_MAX ? t->sectors : UINT32_MAX, limit;
	unsigned number = mbr_last(t->first, &start, &end);

	limit = find_limit(t, number, start, end, room);
	t->grown.bytes = mbr_grow(t->first, t->device->sector, t->sectors, limit);
	return t->grown.bytes ? write_first(t, fault) : 0;
}

static int grow_table(struct table *t, struct fault *fault) {
	int r = device_read(t->device, t->first, t->device->sector, 0, fault);

	if (r < 0)
		return r;
	switch (mbr_read(t->first, t->sectors)) {
	case MBR_PROTECTIVE: return grow_gpt(t, fault);
	case MBR_PARTITIONS: return grow_mbr(t, fault);
	case MBR_NONE: break;
	}
	return 0;
}

int grow_disk(struct device *device, grow_limit *limit, void *context, struct grown *ret, struct fault *fault) {
	cleanup_free uint8_t *first = device_buffer(device->sector), *header = device_buffer(device->sector);
	cleanup_free uint8_t *entries = device_buffer(GPT_ENTRIES_BYTES_MAX + device->sector);
	struct table table = {
		.device = device,
		.sectors = device->bytes / device->sector,
		.first = first,
		.header = header,
		.entries = entries,
		.limit = limit,
		.context = context,
	};
	int r;

	if (!first || !header || !entries)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "grow");
	if (device->sector < 512 || device->sector > 4096 || table.sectors < 128) // no disk with a table is that small
		return fault_set(fault, CODE_UNSUPPORTED, "%s has sectors of %u bytes and %llu of them", device->name,
				 device->sector, (unsigned long long)table.sectors);
	r = grow_table(&table, fault);
	if (r == 0) {
		device_reread(device);
		*ret = table.grown;
	}
	return r;
}
