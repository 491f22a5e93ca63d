// SPDX-License-Identifier: Apache-2.0
// Trees of dm-verity. The table of one that is accepted lies within the image.
#include <stdlib.h>
#include <string.h>

#include "image/verity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static uint8_t head[VERITY_HEAD];
	uint8_t squashfs[SQUASHFS_HEAD] = {0};
	char table[VERITY_TABLE_MAX];
	struct verity verity;
	struct fault fault = {0};
	uint64_t bytes, at;

	if (size < sizeof(bytes) + sizeof(squashfs))
		return 0;
	memcpy(&bytes, data, sizeof(bytes));
	memcpy(squashfs, data + sizeof(bytes), sizeof(squashfs));
	size -= sizeof(bytes) + sizeof(squashfs);
	memset(head, 0, sizeof(head));
	memcpy(head, data + sizeof(bytes) + sizeof(squashfs), size < sizeof(head) ? size : sizeof(head));
	if (verity_find(squashfs, bytes, &at, &fault) < 0 || verity_parse(head, at, bytes, &verity, &fault) < 0) {
		if (fault.code != CODE_UNSUPPORTED)
			abort();
		return 0;
	}
	verity_table(&verity, "/dev/loop1048575", table);
	if (verity.at + VERITY_HEAD > bytes || verity.blocks * VERITY_BLOCK != verity.at || strlen(table) < 64)
		abort();
	return 0;
}
