// SPDX-License-Identifier: Apache-2.0
// Partition tables: the bytes are the start of a disk. CRCs are made right, so that what they protect is reached too.
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "disk/gpt.h"
#include "disk/grow.h"
#include "disk/table.h"
#include "memory_disk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DISK (512u << 10)

// The header's CRC, and where they are within the disk that of its entries.
static void make_right(uint8_t *disk) {
	uint8_t *header = disk + 512;
	uint64_t entries = get_le64(header + 72), bytes = (uint64_t)get_le32(header + 80) * get_le32(header + 84);

	if (entries < DISK / 512 && bytes <= DISK - entries * 512)
		put_le32(header + 88, gpt_crc(disk + entries * 512, bytes));
	put_le32(header + 12, 92);
	put_le32(header + 16, 0);
	put_le32(header + 16, gpt_crc(header, 92));
}

// What it says lies within the disk.
static void read_table(const struct memory_disk *m, uint32_t sector) {
	const struct reader reader = {.name = "memory", .bytes = m->bytes, .fd = -1, .memory = m->data};
	struct table table;
	struct fault fault;

	if (table_read(&reader, sector, &table, &fault) == 0)
		for (size_t i = 0; i < table.partition_count; i++)
			if (table.partitions[i].start + table.partitions[i].bytes > m->bytes)
				abort();
	for (size_t i = 0; i < table.structures.count; i++)
		if (table.structures.items[i].end > m->bytes)
			abort();
	for (size_t i = 0; i < table.opaque.count; i++)
		if (table.opaque.items[i].end > m->bytes)
			abort();
	table_free(&table);
}

static uint64_t no_limit(void *context, uint64_t start, uint64_t end) {
	(void)context, (void)start, (void)end;
	return UINT64_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct memory_disk m;
	struct device device = memory_open(&m, DISK, 512);
	struct grown grown;
	struct fault fault;

	memset(m.data, 0, DISK);
	memcpy(m.data, data, size < DISK ? size : DISK);
	if (size > 1024)
		make_right(m.data);
	read_table(&m, 0);
	read_table(&m, 4096);
	if (grow_disk(&device, no_limit, NULL, &grown, &fault) == 0 &&
	    (grow_disk(&device, no_limit, NULL, &grown, &fault) < 0 || grown.bytes))
		abort(); // a second time must change nothing
	free(m.data);
	return 0;
}
