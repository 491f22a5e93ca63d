// SPDX-License-Identifier: Apache-2.0
#include "import/ndz_unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "base/scratch.h"
#include "import/ndz_chunk.h"

#define PIECE ((size_t)256 << 10) // of what is inflated

struct unpacking {
	_Alignas(READ_ALIGN) uint8_t data[NDZ_CHUNK];
	uint8_t piece[PIECE];
	const struct reader *in;
	int out;
	struct ndz_walk walk;
	struct ndz_chunk chunk;
	size_t region; // of the chunk, that is being written
	uint64_t done; // bytes of it
	z_stream stream;
};

int ndz_measure(const struct reader *in, uint64_t *ret_bytes, struct fault *fault) {
	_Alignas(READ_ALIGN) uint8_t head[NDZ_HEADER];
	struct ndz_chunk chunk;
	struct ndz_walk walk;
	int r = ndz_begin(in->bytes, &walk, fault);

	while (r == 0 && walk.number < walk.total) {
		r = reader_read(in, head, sizeof(head), walk.number * NDZ_CHUNK, fault);
		if (r == 0)
			r = ndz_next(&walk, head, &chunk, fault);
	}
	*ret_bytes = walk.end;
	return r;
}

// What is inflated next.
static int put(struct unpacking *u, const uint8_t *data, size_t size, struct fault *fault) {
	int r = 0;

	while (r == 0 && size > 0) {
		const struct ndz_region *region = &u->chunk.regions[u->region];
		size_t n;
		if (u->region == u->chunk.region_count)
			return ndz_damaged(&u->walk, fault, "holds more than its regions");
		n = region->bytes - u->done < size ? (size_t)(region->bytes - u->done) : size;
		r = scratch_write(u->out, data, n, region->start + u->done, fault);
		data += n;
		size -= n;
		u->done += n;
		if (u->done == region->bytes) {
			u->region++;
			u->done = 0;
		}
	}
	return r;
}

static int inflate_chunk(struct unpacking *u, struct fault *fault) {
	int state = inflateReset(&u->stream), r = 0;

	u->region = 0;
	u->done = 0;
	u->stream.next_in = u->data + NDZ_HEADER;
	u->stream.avail_in = (uInt)u->chunk.stream;
	while (r == 0 && state == Z_OK) {
		u->stream.next_out = u->piece;
		u->stream.avail_out = PIECE;
		state = inflate(&u->stream, Z_NO_FLUSH);
		if (state == Z_OK || state == Z_STREAM_END)
			r = put(u, u->piece, PIECE - u->stream.avail_out, fault);
	}
	if (r < 0)
		return r;
	if (state != Z_STREAM_END)
		return ndz_damaged(&u->walk, fault, "has content that zlib does not read: %s",
				   u->stream.msg ? u->stream.msg : "it is cut off");
	return u->stream.avail_in > 0 || u->region < u->chunk.region_count
		       ? ndz_damaged(&u->walk, fault, "holds less than its header announces")
		       : 0;
}

static int unpack(struct unpacking *u, struct fault *fault) {
	int r = ndz_begin(u->in->bytes, &u->walk, fault);

	while (r == 0 && u->walk.number < u->walk.total) {
		r = reader_read(u->in, u->data, NDZ_CHUNK, u->walk.number * NDZ_CHUNK, fault);
		if (r == 0)
			r = ndz_next(&u->walk, u->data, &u->chunk, fault);
		if (r == 0)
			r = inflate_chunk(u, fault);
	}
	return r;
}

int ndz_unpack(const struct reader *in, int out, struct fault *fault) {
	cleanup_free struct unpacking *u = aligned_alloc(READ_ALIGN, sizeof(*u));
	int r;

	if (!u)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "%s", in->name);
	u->in = in;
	u->out = out;
	u->stream = (z_stream){0};
	if (inflateInit(&u->stream) != Z_OK)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "zlib");
	r = unpack(u, fault);
	inflateEnd(&u->stream);
	return r;
}
