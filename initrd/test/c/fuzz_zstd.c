// SPDX-License-Identifier: Apache-2.0
// Image files: whatever the bytes, pieces follow one another and stay within their MiB.
#include <stdlib.h>
#include <string.h>

#include "image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory_source {
	struct source base;
	const uint8_t *data;
	size_t size;
};

static int memory_read(struct source *source, void *data, size_t size, size_t *ret_size, struct fault *fault) {
	struct memory_source *m = (struct memory_source *)source;
	(void)fault;
	size = size < m->size ? size : m->size;
	memcpy(data, m->data, size);
	m->data += size;
	m->size -= size;
	*ret_size = size;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static const struct source_ops ops = {memory_read, NULL};
	static unsigned char buffer[BLOCK];
	struct memory_source source = {{&ops}, data, size};
	struct piece piece = {.size = 1};
	struct image *image;
	struct fault fault;
	uint64_t at = 0;

	if (image_open_zstd(&source.base, &image, &fault) < 0)
		abort();
	for (int i = 0; i < 64 && piece.size && image->ops->next(image, buffer, &piece, &fault) == 0; i++) {
		if (piece.size > BLOCK || piece.offset != at)
			abort();
		at += piece.size;
	}
	image_close(&image);
	return 0;
}
