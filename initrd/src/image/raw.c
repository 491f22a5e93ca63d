// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image/image.h"

struct raw_image {
	struct image base;
	struct source *source;
	uint64_t offset;
};

bool bytes_are_zero(const unsigned char *data, size_t size) {
	return size == 0 || (data[0] == 0 && !memcmp(data, data + 1, size - 1));
}

void image_close(struct image **image) {
	if (*image)
		(*image)->ops->close(*image);
	*image = NULL;
}

static int raw_next(struct image *image, unsigned char *buffer, struct piece *ret, struct fault *fault) {
	struct raw_image *raw = (struct raw_image *)image;
	size_t size = 0, n = 1;

	while (size < BLOCK && n > 0) {
		int r = source_read(raw->source, buffer + size, BLOCK - size, &n, fault);
		if (r < 0)
			return r;
		size += n;
	}
	*ret = (struct piece){raw->offset, size, bytes_are_zero(buffer, size)};
	raw->offset += size;
	return 0;
}

static void raw_close(struct image *image) { free(image); }

int image_open_raw(struct source *source, struct image **ret, struct fault *fault) {
	static const struct image_ops ops = {raw_next, raw_close};
	struct raw_image *raw = malloc(sizeof(*raw));

	if (!raw)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image");
	*raw = (struct raw_image){{&ops}, source, 0};
	*ret = &raw->base;
	return 0;
}
