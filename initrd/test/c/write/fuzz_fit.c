// SPDX-License-Identifier: Apache-2.0
// A GPT in an image's first chunk on a disk of another size. 12 bytes say how large image and disk are, the rest is the
// chunk. CRCs are made right, so that what they protect is reached too.
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "disk/gpt.h"
#include "write/fit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t head[CHUNK];

static void make_right(uint32_t sector) {
	uint8_t *header = head + sector;
	uint64_t entries = get_le64(header + 72), bytes = (uint64_t)get_le32(header + 80) * get_le32(header + 84);

	if (entries < CHUNK / sector && bytes <= CHUNK - entries * sector)
		put_le32(header + 88, gpt_crc(head + entries * sector, bytes));
	put_le32(header + 12, 92);
	put_le32(header + 16, 0);
	put_le32(header + 16, gpt_crc(header, 92));
}

// Bytes of the head, whatever place is meant: so copies are found too.
static int read_head(void *context, uint64_t at, size_t size, uint8_t *data, struct fault *fault) {
	(void)context, (void)at, (void)fault;
	memcpy(data, head, size);
	return 0;
}

static void check(const struct fit *fit, const struct index *index, const struct device *disk) {
	struct gpt first, copy;
	uint64_t sectors = disk->bytes / disk->sector;

	if (fit->limit > disk->bytes || fit->limit > index->bytes)
		abort();
	if (!fit->copy)
		return;
	if (fit->copy_at + fit->copy_size != disk->bytes)
		abort();
	if (gpt_read(head + disk->sector, disk->sector, 1, sectors, &first) < 0 ||
	    gpt_check_entries(&first, head + first.entries * disk->sector) < 0)
		abort();
	if (gpt_read(fit->copy + fit->copy_size - disk->sector, disk->sector, sectors - 1, sectors, &copy) < 0 ||
	    gpt_check_entries(&copy, fit->copy) < 0 || copy.entries * disk->sector != fit->copy_at)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct chunk chunks[2] = {{.offset = 0, .used = {0xff}}, {.used = {0x80, 1}}};
	struct index index = {.chunks = chunks};
	struct device disk = {.name = "disk"};
	struct fit fit;
	struct fault fault;

	if (size < 12)
		return 0;
	index.sector = disk.sector = data[0] & 1 ? 4096 : 512;
	index.bytes = (1 + (uint64_t)(get_le32(data + 4) & 0xffffff)) * index.sector;
	disk.bytes = (1 + (uint64_t)(get_le32(data + 8) & 0xffffff)) * disk.sector;
	chunks[1].offset = (index.bytes - 1) / CHUNK * CHUNK;
	index.chunk_count = chunks[1].offset ? 2 : 1;
	memset(head, 0, sizeof(head));
	memcpy(head, data + 12, size - 12 < sizeof(head) ? size - 12 : sizeof(head));
	if (data[0] & 2)
		make_right(disk.sector);
	if (fit_table(&index, &disk, head, read_head, NULL, &fit, &fault) < 0)
		return 0;
	check(&fit, &index, &disk);
	fit_chunk(&fit, &index, &chunks[index.chunk_count - 1], head);
	fit_free(&fit);
	return 0;
}
