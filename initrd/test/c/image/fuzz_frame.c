// SPDX-License-Identifier: Apache-2.0
// Data frames of chunks. The first 33 bytes are the disk's size, in granules and a sector, and the used granules; the
// hash is never right.
#include <stdlib.h>
#include <string.h>

#include "image/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD 33u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static struct codec *codec;
	struct index index = {.sector = 512, .chunk_count = 1};
	struct chunk chunk = {0};
	struct fault fault = {0};
	uint8_t *frame, *room = malloc(CHUNK);

	if (size > HEAD && size - HEAD <= FRAME_MAX) {
		index.bytes = data[0] * (uint64_t)GRANULE + 512;
		index.chunks = &chunk;
		memcpy(chunk.used, data + 1, sizeof(chunk.used));
		chunk.frame = (uint32_t)(size - HEAD);
		frame = malloc(chunk.frame); // of its own, so that a byte read past it is seen
		memcpy(frame, data + HEAD, chunk.frame);
		if (!codec && codec_open(1, &codec, &fault) < 0)
			abort();
		if (frame_read(codec, &index, &chunk, frame, room, &fault) == 0 || fault.code != CODE_INTEGRITY)
			abort();
		free(frame);
	}
	free(room);
	return 0;
}
