// SPDX-License-Identifier: Apache-2.0
#include "image/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/cleanup.h"

#define MAGIC "\x28\xb5\x2f\xfd"
#define HEAD 6u // bytes of the smallest frame header that has a content size
#define FRAME_CHECKSUM 4u

// In the descriptor, the header's first byte after the magic.
#define LOW_BITS 0x1fu // dictionary id, checksum, reserved, unused
#define CHECKSUM 0x04u
#define SINGLE_SEGMENT 0x20u
// The descriptor of a window, the byte after it.
#define WINDOW_512_KIB 0x48u
#define WINDOW_1_MIB 0x50u

#define BLOCK_HEAD 3u
#define BLOCK_MAX (128u << 10)
#define BLOCK_RUN 1 // types
#define BLOCK_COMPRESSED 2
#define BLOCK_NONE 3

#define LITERALS_PLAIN 0 // types
#define LITERALS_RUN 1

struct codec {
	ZSTD_CCtx *coder;
	ZSTD_DCtx *decoder;
};

int codec_open(int level, struct codec **ret, struct fault *fault) {
	cleanup_with(codec_close) struct codec *codec = calloc(1, sizeof(*codec));

	if (codec) {
		codec->coder = ZSTD_createCCtx();
		codec->decoder = ZSTD_createDCtx();
	}
	if (!codec || !codec->coder || !codec->decoder)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "zstd");
	if (ZSTD_isError(ZSTD_CCtx_setParameter(codec->coder, ZSTD_c_compressionLevel, level)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(codec->coder, ZSTD_c_checksumFlag, 1)))
		return fault_set(fault, CODE_UNSUPPORTED, "zstd: level %d does not exist", level);
	*ret = steal_pointer(&codec);
	return 0;
}

void codec_close(struct codec **codec) {
	if (!*codec)
		return;
	ZSTD_freeCCtx((*codec)->coder);
	ZSTD_freeDCtx((*codec)->decoder);
	free(*codec);
	*codec = NULL;
}

static int refuse(const struct chunk *chunk, struct fault *fault, const char *what) {
	return fault_set(fault, CODE_INTEGRITY, "image: chunk at disk offset %llu: %s",
			 (unsigned long long)chunk->offset, what);
}

// How long the literals of a compressed block are, with their header (RFC 8878, 3.1.1.3.1.1).
static size_t literals_size(const uint8_t *block, size_t size) {
	static const uint8_t plain_head[] = {1, 2, 1, 3}, plain_skip[] = {3, 4, 3, 4}, plain_bits[] = {5, 12, 5, 20};
	static const uint8_t coded_head[] = {3, 3, 4, 5}, coded_bits[] = {10, 10, 14, 18};
	uint64_t head = 0;

	for (size_t i = 0; i < 5 && i < size; i++)
		head |= (uint64_t)block[i] << (8 * i);
	unsigned type = head & 3, form = head >> 2 & 3;

	if (type == LITERALS_RUN)
		return plain_head[form] + 1u;
	if (type == LITERALS_PLAIN)
		return plain_head[form] + (head >> plain_skip[form] & ((1u << plain_bits[form]) - 1));
	return coded_head[form] + (head >> (4 + coded_bits[form]) & ((1u << coded_bits[form]) - 1));
}

// Whether the reserved bits of the modes of a compressed block's sequences are 0. libzstd before 1.5.6 accepts others.
static bool modes_are_right(const uint8_t *block, size_t size) {
	size_t at = literals_size(block, size);

	if (at >= size || block[at] == 0) // the decoder refuses a block that ends early; no sequences, no modes
		return true;
	at += block[at] < 128 ? 1 : block[at] < 255 ? 2 : 3;
	return at >= size || (block[at] & 3) == 0;
}

// Blocks of at most 128 KiB, as zstd has them, and the checksum: the decoder of libzstd accepts larger ones.
static bool blocks_are_right(const uint8_t *frame, size_t size) {
	bool single = frame[4] & SINGLE_SEGMENT, last = false;
	size_t at = (single ? 5u : 6u) + ((size_t)1 << (frame[4] >> 6)), block;

	while (!last && at + BLOCK_HEAD <= size) {
		unsigned type = frame[at] >> 1 & 3;

		last = frame[at] & 1;
		block = (frame[at] | (uint32_t)frame[at + 1] << 8 | (uint32_t)frame[at + 2] << 16) >> 3;
		at += BLOCK_HEAD;
		if (block > BLOCK_MAX || type == BLOCK_NONE)
			return false;
		if (type == BLOCK_COMPRESSED && block <= size - at && !modes_are_right(frame + at, block))
			return false;
		at += type == BLOCK_RUN ? 1 : block;
	}
	return last && at + FRAME_CHECKSUM == size;
}

// Accepts exactly one frame of the right kind. What its header declares is compared with the index.
static const char *head_fault(const uint8_t *frame, size_t size, size_t wanted) {
	if (size < HEAD || memcmp(frame, MAGIC, 4) != 0)
		return "it is no zstd frame";
	if (ZSTD_getFrameContentSize(frame, size) != wanted)
		return "its frame declares another size";
	if ((frame[4] & LOW_BITS) != CHECKSUM)
		return "its frame has no checksum, or a field for a dictionary, or bits that no frame has";
	if (!(frame[4] & SINGLE_SEGMENT) && frame[5] != WINDOW_512_KIB && frame[5] != WINDOW_1_MIB)
		return "its frame has a window other than the chunk, 512 KiB or 1 MiB";
	if (!blocks_are_right(frame, size))
		return "its frame is damaged, or is more than one frame";
	return NULL;
}

static bool free_is_zero(const struct index *index, const struct chunk *chunk, const uint8_t *data) {
	static const uint8_t zeros[GRANULE];
	size_t size = chunk_size(index, chunk), n;

	for (size_t at = 0, i = 0; at < size; at += n, i++) {
		n = size - at < GRANULE ? size - at : GRANULE;
		if (!(chunk->used[i / 8] >> (i % 8) & 1) && memcmp(data + at, zeros, n) != 0)
			return false;
	}
	return true;
}

int frame_read(struct codec *codec, const struct index *index, const struct chunk *chunk, const uint8_t *frame,
	       uint8_t *data, struct fault *fault) {
	size_t size = chunk_size(index, chunk);
	const char *what = head_fault(frame, chunk->frame, size);
	uint8_t hash[HASH];

	if (what)
		return refuse(chunk, fault, what);
	if (ZSTD_decompressDCtx(codec->decoder, data, size, frame, chunk->frame) != size)
		return refuse(chunk, fault, "its frame cannot be decoded");
	if (!free_is_zero(index, chunk, data))
		return refuse(chunk, fault, "a free granule is not zero");
	if (chunk_hash(index, chunk, data, hash) < 0)
		return fault_set(fault, CODE_FAILED, "libcrypto: no SHA-256");
	if (memcmp(hash, chunk->hash, HASH) != 0)
		return refuse(chunk, fault, "its hash is not the one in the index");
	return 0;
}

int frame_make(struct codec *codec, const struct index *index, struct chunk *chunk, const uint8_t *data, uint8_t *frame,
	       struct fault *fault) {
	size_t size = ZSTD_compress2(codec->coder, frame, FRAME_MAX, data, chunk_size(index, chunk));

	if (ZSTD_isError(size))
		return fault_set(fault, CODE_FAILED, "zstd: %s", ZSTD_getErrorName(size));
	if (chunk_hash(index, chunk, data, chunk->hash) < 0)
		return fault_set(fault, CODE_FAILED, "libcrypto: no SHA-256");
	chunk->frame = (uint32_t)size;
	return 0;
}
