// SPDX-License-Identifier: Apache-2.0
#include "node/data_disk.h"

#include <errno.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "disk/gpt.h"
#include "disk/mbr.h"
#include "erase/readback.h"

#define LEAST_BYTES (16 * BLOCK)
#define ENTRIES 128u
#define ENTRY_BYTES 128u
#define NAME "sled-"

// 0fc63daf-8483-4772-8e79-3d69d8477de4, Linux filesystem data
static const uint8_t linux_data[] = "\xaf\x3d\xc6\x0f\x83\x84\x72\x47\x8e\x79\x3d\x69\xd8\x47\x7d\xe4";

// What data_disk_make writes: `head` from the start of the disk, `tail` up to its end.
struct table {
	struct device *device;
	struct gpt gpt;
	uint8_t *memory, *head, *tail, *now; // now: room for what is there
	size_t head_bytes, tail_bytes;
};

static void table_free(struct table *t) { free(t->memory); }

void data_disk_name(struct data_disk *data, const struct disk *disk) {
	const char *place = disk->serial[0] || disk->wwn[0] ? "" : disk->path;
	char id[GUID_TEXT], text[1024];
	uint8_t hash[EVP_MAX_MD_SIZE] = {0};
	int n;

	guid_write(data->id, id);
	n = snprintf(text, sizeof(text), "sled data partition 1\n%s\n%s\n%s\n%s", id, disk->serial, disk->wwn, place);
	EVP_Digest(text, (size_t)n, hash, NULL, EVP_sha256(), NULL);
	guid_of_hash(hash, data->part);
}

static void put_protective(uint8_t *sector, uint64_t sectors) {
	uint8_t *entry = sector + 446;

	memcpy(entry, "\x00\x00\x02\x00\xee\xff\xff\xff", 8);
	put_le32(entry + 8, 1);
	put_le32(entry + 12, sectors - 1 > UINT32_MAX ? UINT32_MAX : (uint32_t)(sectors - 1));
	put_le16(sector + 510, 0xaa55);
}

static void put_name(uint8_t *entry, const char *name) {
	char whole[sizeof(NAME) + DATA_NAME_MAX];
	int n = snprintf(whole, sizeof(whole), NAME "%s", name);

	memset(entry + GPT_ENTRY_NAME, 0, GPT_NAME_BYTES);
	for (int i = 0; i < n; i++)
		put_le16(entry + GPT_ENTRY_NAME + 2 * i, (uint8_t)whole[i]);
}

// The wanted table, for the size of the disk.
static void fill(struct table *t, const struct data_disk *data) {
	uint32_t sector = t->device->sector, align = BLOCK / sector;
	uint64_t sectors = t->device->bytes / sector, table = ENTRIES * ENTRY_BYTES / sector;
	uint8_t *entries = t->head + 2 * sector;

	t->gpt = (struct gpt){.sector = sector,
			      .disk_sectors = sectors,
			      .own = 1,
			      .other = sectors - 1,
			      .first_usable = 2 + table,
			      .last_usable = sectors - table - 2,
			      .entries = 2,
			      .entry_count = ENTRIES,
			      .entry_bytes = ENTRY_BYTES,
			      .revision = {0, 0, 1, 0}};
	memcpy(t->gpt.guid, data->id, GUID_BYTES);
	memcpy(entries, linux_data, GUID_BYTES);
	memcpy(entries + GPT_ENTRY_GUID, data->part, GUID_BYTES);
	put_le64(entries + GPT_ENTRY_START, align);
	put_le64(entries + GPT_ENTRY_END, (t->gpt.last_usable + 1) / align * align - 1);
	put_name(entries, data->name);
	t->gpt.entries_crc = gpt_crc(entries, ENTRIES * ENTRY_BYTES);
	put_protective(t->head, sectors);
	gpt_write(&t->gpt, false, t->head + sector);
	memcpy(t->tail, entries, ENTRIES * ENTRY_BYTES);
	gpt_write(&t->gpt, true, t->tail + ENTRIES * ENTRY_BYTES);
}

static int make_table(struct device *device, const struct data_disk *data, struct table *t, struct fault *fault) {
	size_t room = 64u << 10;

	if (device->sector < 512 || device->sector > 4096 || (device->sector & (device->sector - 1)))
		return fault_set(fault, CODE_UNSUPPORTED, "%s has sectors of %u bytes", device->name, device->sector);
	if (device->bytes < LEAST_BYTES)
		return fault_set(fault, CODE_DISK, "%s has less than 16 MiB", device->name);
	t->device = device;
	t->memory = device_buffer(2 * room + GPT_ENTRIES_BYTES_MAX + 2 * BLOCK_ALIGN);
	if (!t->memory)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "layout");
	t->head = t->memory;
	t->tail = t->memory + room;
	t->now = t->memory + 2 * room;
	t->head_bytes = 2 * device->sector + ENTRIES * ENTRY_BYTES;
	t->tail_bytes = device->sector + ENTRIES * ENTRY_BYTES;
	fill(t, data);
	return 0;
}

// The sector that is wanted at an offset; NULL: none.
static const uint8_t *wanted_at(const struct table *t, uint64_t offset) {
	uint64_t tail = t->device->bytes / t->device->sector * t->device->sector - t->tail_bytes;

	if (offset < t->head_bytes)
		return t->head + offset;
	return offset >= tail && offset < tail + t->tail_bytes ? t->tail + (offset - tail) : NULL;
}

// Reads the disk as if sectors of the wanted table were zero: a power cut may have left any of them.
static ssize_t masked_pread(struct device *masked, void *data, size_t size, uint64_t offset) {
	const struct table *t = masked->context;
	uint32_t sector = t->device->sector;
	ssize_t n = t->device->ops->pread(t->device, data, size, offset);

	for (ssize_t at = 0; at + (ssize_t)sector <= n; at += sector) {
		const uint8_t *wanted = wanted_at(t, offset + (uint64_t)at);
		if (wanted && !memcmp((uint8_t *)data + at, wanted, sector))
			memset((uint8_t *)data + at, 0, sector);
	}
	return n;
}

// Code 4: it is not.
static int check_blank(struct table *t, struct fault *fault) {
	static const struct device_ops ops = {.pread = masked_pread};
	struct device masked = *t->device;
	struct progress progress = {0};
	struct erase erase = {0};
	uint64_t offset;
	int r;

	masked.fd = -1; // every read takes `ops`
	masked.ops = &ops;
	masked.context = t;
	r = readback(&masked, &erase, NULL, &progress, &offset, fault);
	if (r > 0)
		return fault_set(fault, CODE_DISK,
				 "%s is not blank: it holds data at byte %llu. Wipe it, or name another disk",
				 masked.name, (unsigned long long)offset);
	if (r == 0 && erase.bad.count > 0)
		return fault_set(fault, CODE_DISK, "%s cannot be read at byte %llu, so it may hold data", masked.name,
				 (unsigned long long)erase.bad.offset[0]);
	return r;
}

static unsigned count_partitions(const struct gpt *gpt, const uint8_t *entries) {
	unsigned count = 0;
	uint64_t start, end;

	for (uint32_t i = 0; i < gpt->entry_count; i++)
		count += gpt_partition(gpt, entries, i, &start, &end);
	return count;
}

// The table that is there is not that of this data disk.
static int foreign_table(const struct table *t, const struct gpt *gpt, unsigned count, struct fault *fault) {
	char guid[GUID_TEXT], wanted[GUID_TEXT];

	guid_write(gpt->guid, guid);
	guid_write(t->gpt.guid, wanted);
	return fault_set(fault, CODE_DISK,
			 "%s has another partition table, GPT %s with %u partitions. That of this data disk is %s: "
			 "wipe the disk, or name another one",
			 t->device->name, guid, count, wanted);
}

// 1: the partition is there. 0: there is no valid table with it.
static int look_at_table(struct table *t, struct data_disk *data, struct fault *fault) {
	struct device *device = t->device;
	uint8_t *first = t->now, *header = t->now + BLOCK_ALIGN, *entries = t->now + 2 * BLOCK_ALIGN;
	const uint8_t *wanted = t->head + 2 * device->sector;
	struct gpt gpt;
	unsigned count;
	int r = device_read(device, first, device->sector, 0, fault);

	if (r == 0)
		r = device_read(device, header, device->sector, device->sector, fault);
	if (r < 0)
		return r;
	if (mbr_read(first, t->gpt.disk_sectors) != MBR_PROTECTIVE ||
	    gpt_read(header, device->sector, 1, t->gpt.disk_sectors, &gpt) < 0)
		return 0;
	r = device_read(device, entries, gpt_entries_size(&gpt), gpt.entries * device->sector, fault);
	if (r < 0 || gpt_check_entries(&gpt, entries) < 0)
		return r;
	count = count_partitions(&gpt, entries);
	if (memcmp(gpt.guid, data->id, GUID_BYTES) != 0 || count != 1 || memcmp(entries, linux_data, GUID_BYTES) != 0 ||
	    memcmp(entries + GPT_ENTRY_NAME, wanted + GPT_ENTRY_NAME, GPT_NAME_BYTES) != 0)
		return foreign_table(t, &gpt, count, fault);
	memcpy(data->part, entries + GPT_ENTRY_GUID, GUID_BYTES);
	return 1;
}

int data_disk_look(struct device *device, struct data_disk *data, struct fault *fault) {
	cleanup_with(table_free) struct table table = {0};
	int r = make_table(device, data, &table, fault);

	if (r == 0)
		r = look_at_table(&table, data, fault);
	return r == 0 ? check_blank(&table, fault) : r;
}

static int write_part(struct table *t, const uint8_t *data, size_t size, uint64_t offset, struct fault *fault) {
	int r = device_write(t->device, data, size, offset, fault);
	return r == 0 ? device_sync(t->device, fault) : r;
}

// The copy first and the first two sectors last: until they are there, no kernel sees a partition.
int data_disk_make(struct device *device, const struct data_disk *data, struct fault *fault) {
	cleanup_with(table_free) struct table table = {0};
	struct data_disk now = *data;
	size_t start = 2 * device->sector;
	int r = make_table(device, data, &table, fault);

	if (r == 0)
		r = write_part(&table, table.tail, table.tail_bytes,
			       (table.gpt.disk_sectors * device->sector) - table.tail_bytes, fault);
	if (r == 0)
		r = write_part(&table, table.head + start, table.head_bytes - start, start, fault);
	if (r == 0)
		r = write_part(&table, table.head, start, 0, fault);
	if (r == 0 && (r = look_at_table(&table, &now, fault)) == 0)
		return fault_set(fault, CODE_INTEGRITY, "%s does not hold the partition table that was written",
				 device->name);
	if (r < 0)
		return r;
	device_reread(device);
	return 0;
}
