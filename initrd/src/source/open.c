// SPDX-License-Identifier: Apache-2.0
#include "source/open.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "image/gap_frame.h"
#include "source/stream.h"

// What is read first, in bytes: index and seek table of a usual image, which are 1/3,700 of it. Where 80 nodes get one
// copy by multicast, each byte too many counts 80 times; where chunks are small, another request follows.
#define TAIL_SHARE 3072u
#define TAIL_LEAST ((uint64_t)4 << 10)
#define TAIL_MOST ((uint64_t)256 << 10)
#define TRAILER_FRAME ((uint64_t)SKIPPABLE + TRAILER)
#define TABLE_MAX ((uint64_t)8 * (CHUNKS_MAX * 2 + DISK_MAX / GAP_MAX + 3) + SKIPPABLE + SEEK_FOOTER)

// The end of a file; its last bytes are read already.
struct tail {
	struct stream *stream;
	uint64_t size; // of the file
	size_t kept;
	uint8_t *data;
	uint64_t table; // bytes of the seek table's frame
};

static int refuse(struct fault *fault, const char *what) { return fault_set(fault, CODE_INTEGRITY, "image: %s", what); }

static int tail_read(struct tail *tail, uint64_t at, size_t size, uint8_t *ret, struct fault *fault) {
	uint64_t from = tail->size - tail->kept;

	if (at >= from) {
		memcpy(ret, tail->data + (at - from), size);
		return 0;
	}
	stream_range(tail->stream, at, size);
	return stream_read(tail->stream, ret, size, fault);
}

static int tail_fill(struct tail *tail, struct fault *fault) {
	uint64_t first = tail->size / TAIL_SHARE;

	first = first < TAIL_LEAST ? TAIL_LEAST : first > TAIL_MOST ? TAIL_MOST : first;
	tail->kept = (size_t)(tail->size < first ? tail->size : first);
	tail->data = malloc(tail->kept + 1);
	if (!tail->data)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image");
	stream_range(tail->stream, tail->size - tail->kept, tail->kept);
	return stream_read(tail->stream, tail->data, tail->kept, fault);
}

// Checks the size of the seek table and the trailer, and that the index ends where they begin.
static int read_trailer(struct tail *tail, struct trailer *ret, struct fault *fault) {
	uint8_t frame[TRAILER_FRAME];
	uint64_t end;
	int r;

	tail->table = tail->kept < SEEK_FOOTER ? 0 : seek_table_size(tail->data + tail->kept - SEEK_FOOTER);
	if (tail->table == 0)
		return refuse(fault, "it does not end as an image does: it was cut off, or is another kind of file "
				     "(sledc pack converts any disk image)");
	if (tail->table > TABLE_MAX || tail->table + TRAILER_FRAME > tail->size)
		return refuse(fault, "the seek table has an impossible size");
	end = tail->size - tail->table - TRAILER_FRAME;
	r = tail_read(tail, end, sizeof(frame), frame, fault);
	if (r == 0)
		r = trailer_parse(frame, ret, fault);
	if (r == 0 && (ret->index_at < SKIPPABLE || ret->index_at > end || ret->index_size != end - ret->index_at))
		return refuse(fault, "the index is not where the trailer locates it");
	if (r == 0 && ret->index_size > INDEX_SIZE_MAX)
		return fault_set(fault, CODE_UNSUPPORTED, "image: an index of %llu bytes; at most %llu are supported",
				 (unsigned long long)ret->index_size, (unsigned long long)INDEX_SIZE_MAX);
	return r < 0 ? r : index_room(ret->index_size / INDEX_ENTRY, fault);
}

static void digest_write(const uint8_t hash[HASH], char ret[8 + 2 * HASH]) {
	strcpy(ret, "sha256:");
	for (size_t i = 0; i < HASH; i++)
		snprintf(ret + 7 + 2 * i, 3, "%02x", hash[i]);
}

// The index is compared with the digest afterwards.
static int check_trust(const struct image_trust *trust, struct image *image, struct fault *fault) {
	digest_write(image->trailer.digest, image->digest);
	return trust_check(trust, image->digest, fault);
}

static int read_index(struct tail *tail, struct image *image, struct fault *fault) {
	const struct trailer *trailer = &image->trailer;
	size_t size = SKIPPABLE + (size_t)trailer->index_size;
	cleanup_free uint8_t *frame = malloc(size);
	uint8_t head[SKIPPABLE], hash[HASH];
	int r = frame ? tail_read(tail, trailer->index_at - SKIPPABLE, size, frame, fault)
		      : fault_errno(fault, CODE_FAILED, ENOMEM, "image index");

	if (r < 0)
		return r;
	skippable_write(SKIPPABLE_INDEX, (uint32_t)trailer->index_size, head);
	if (memcmp(frame, head, SKIPPABLE) != 0)
		return refuse(fault, "the index is not in a separate frame");
	if (EVP_Digest(frame + SKIPPABLE, trailer->index_size, hash, NULL, EVP_sha256(), NULL) != 1)
		return fault_set(fault, CODE_FAILED, "libcrypto: no SHA-256");
	if (memcmp(hash, trailer->digest, HASH) != 0)
		return refuse(fault, "the index is damaged");
	image->index_size = (size_t)trailer->index_size;
	return index_parse(frame + SKIPPABLE, image->index_size, &image->index, fault);
}

// Checks that the file contains exactly what follows from the index. The table is read only if its size is right.
static int check_consequences(struct tail *tail, const struct image *image, struct fault *fault) {
	cleanup_free uint8_t *wanted = NULL, *there = NULL;
	size_t size;
	int r;

	if (image->trailer.index_at != index_end(&image->index) + SKIPPABLE ||
	    tail->size != file_size(&image->index, image->index_size))
		return refuse(fault, "the size of the frames is not the one in the index");
	if (seek_table_write(&image->index, image->index_size, &wanted, &size) < 0 || !(there = malloc(size)))
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image: seek table");
	r = tail_read(tail, tail->size - size, size, there, fault);
	return r == 0 && memcmp(there, wanted, size) != 0 ? refuse(fault, "the seek table does not match the index")
							  : r;
}

int image_open(struct source *source, const struct image_trust *trust, struct image *ret, struct fault *fault) {
	cleanup_with(stream_close) struct stream *stream = NULL;
	struct image image = {0};
	struct tail tail = {0};
	int r = stream_file_size(source, &tail.size, fault);

	if (r == 0)
		r = stream_open(source, &stream, fault);
	tail.stream = stream;
	if (r == 0)
		r = tail_fill(&tail, fault);
	if (r == 0)
		r = read_trailer(&tail, &image.trailer, fault);
	if (r == 0)
		r = check_trust(trust, &image, fault);
	if (r == 0)
		r = read_index(&tail, &image, fault);
	if (r == 0)
		r = check_consequences(&tail, &image, fault);
	free(tail.data);
	if (r < 0)
		image_close(&image);
	else
		*ret = image;
	return r;
}

void image_close(struct image *image) { index_free(&image->index); }
