// SPDX-License-Identifier: Apache-2.0
// A zstd file (any number of frames, skippable ones too) whose content is the raw disk.
#include <errno.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "image/image.h"

#define WINDOW_LOG_MAX 25 // 32 MiB: a node has little memory
#define INPUT_SIZE (256u * 1024)

struct zstd_image {
	struct image base;
	struct source *source;
	ZSTD_DCtx *decoder;
	ZSTD_inBuffer input;
	char *buffer;	  // of input
	bool inside;	  // a frame has begun and not ended
	bool end_of_file;
	uint64_t offset;
};

static int decode_fault(size_t result, struct fault *fault) {
	if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge)
		return fault_set(fault, CODE_UNSUPPORTED, "the image needs a zstd window of more than %d MiB: compress it without --long",
				 1 << (WINDOW_LOG_MAX - 20));
	if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "zstd");
	return fault_set(fault, CODE_INTEGRITY, "the image is not a whole zstd file: %s", ZSTD_getErrorName(result));
}

static int fill(struct zstd_image *zstd, struct fault *fault) {
	size_t n;
	int r = source_read(zstd->source, zstd->buffer, INPUT_SIZE, &n, fault);

	if (r < 0)
		return r;
	zstd->input = (ZSTD_inBuffer){zstd->buffer, n, 0};
	zstd->end_of_file = n == 0;
	return 0;
}

static int zstd_next(struct image *image, unsigned char *buffer, struct piece *ret, struct fault *fault) {
	struct zstd_image *zstd = (struct zstd_image *)image;
	ZSTD_outBuffer output = {buffer, BLOCK, 0};

	while (output.pos < output.size) {
		size_t before = output.pos, left;
		int r;
		if (zstd->input.pos == zstd->input.size && !zstd->end_of_file && (r = fill(zstd, fault)) < 0)
			return r;
		if (zstd->end_of_file && !zstd->inside)
			break;
		left = ZSTD_decompressStream(zstd->decoder, &output, &zstd->input);
		if (ZSTD_isError(left))
			return decode_fault(left, fault);
		zstd->inside = left != 0;
		// At the end of the file the decoder may still hold output; when none comes, the frame was cut.
		if (zstd->end_of_file && zstd->inside && output.pos == before)
			return fault_set(fault, CODE_INTEGRITY, "the image ends within a zstd frame");
	}
	*ret = (struct piece){zstd->offset, output.pos, bytes_are_zero(buffer, output.pos)};
	zstd->offset += output.pos;
	return 0;
}

static void zstd_close(struct image *image) {
	struct zstd_image *zstd = (struct zstd_image *)image;
	ZSTD_freeDCtx(zstd->decoder);
	free(zstd->buffer);
	free(zstd);
}

int image_open_zstd(struct source *source, struct image **ret, struct fault *fault) {
	static const struct image_ops ops = {zstd_next, zstd_close};
	struct zstd_image *zstd = calloc(1, sizeof(*zstd));

	if (!zstd)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image");
	*zstd = (struct zstd_image){.base = {&ops}, .source = source, .decoder = ZSTD_createDCtx(), .buffer = malloc(INPUT_SIZE)};
	if (!zstd->decoder || !zstd->buffer ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(zstd->decoder, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
		zstd_close(&zstd->base);
		return fault_errno(fault, CODE_FAILED, ENOMEM, "zstd");
	}
	*ret = &zstd->base;
	return 0;
}
