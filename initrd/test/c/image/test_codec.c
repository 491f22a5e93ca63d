// SPDX-License-Identifier: Apache-2.0
// What is written is read again: indexes and frames of any kind, keys, and a file that several threads prove.
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "image/frame.h"
#include "image/gap_frame.h"
#include "source/prove.h"
#include "tap.h"

static uint64_t state = 1;

static uint64_t draw(void) { // splitmix64
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void draw_chunk(struct index *index, uint64_t offset) {
	struct chunk *chunk = &index->chunks[index->chunk_count++];
	size_t granules;

	*chunk = (struct chunk){.offset = offset, .frame = (uint32_t)(1 + draw() % FRAME_MAX)};
	granules = (chunk_size(index, chunk) + GRANULE - 1) / GRANULE;
	for (size_t i = 0; i < granules; i++)
		chunk->used[i / 8] |= (uint8_t)((draw() % 3 == 0 || i == granules - 1) << (i % 8));
	for (size_t i = 0; i < HASH; i++)
		chunk->hash[i] = (uint8_t)draw();
}

static struct index draw_index(void) {
	struct index index = {.sector = draw() % 2 ? 512 : 4096, .chunks = calloc(64, sizeof(struct chunk))};

	index.bytes = (1 + draw() % 100000) * (draw() % 2 ? 4096 : CHUNK);
	index.partition_count = (uint32_t)(draw() % (INDEX_PARTITIONS_MAX + 1));
	for (uint32_t i = 0; i < index.partition_count; i++)
		index.partitions[i] = (struct index_partition){index.bytes - 1, 1, draw() % 2, "abcdefghijklmnop"};
	for (uint64_t at = draw() % 200 * CHUNK; at < index.bytes && index.chunk_count < 64;
	     at += (1 + draw() % 200) * CHUNK)
		draw_chunk(&index, at);
	index_lay_out(&index);
	return index;
}

static bool goes_round(const struct index *index) {
	cleanup_free uint8_t *data = NULL, *again = NULL, *table = NULL;
	struct index read = {0};
	struct fault fault = {0};
	size_t size, size_again, table_size;
	bool right = index_encode(index, &data, &size) == 0 && index_parse(data, size, &read, &fault) == 0;

	if (!right)
		printf("# %s\n", fault.text);
	right = right && read.used == index->used && index_encode(&read, &again, &size_again) == 0 &&
		size == size_again && !memcmp(data, again, size);
	right = right && seek_table_write(&read, size, &table, &table_size) == 0 &&
		seek_table_size(table + table_size - SEEK_FOOTER) == table_size;
	right = right && file_size(&read, size) == index_end(index) + 2 * SKIPPABLE + size + TRAILER + table_size;
	index_free(&read);
	return right;
}

static void test_index(void) {
	unsigned right = 0;

	for (unsigned i = 0; i < 500; i++) {
		struct index index = draw_index();
		right += goes_round(&index);
		index_free(&index);
	}
	ok(right == 500, "%u of 500 indexes are read as they were written", right);
}

static void one_frame(int level, uint64_t bytes, bool noise) {
	cleanup_with(codec_close) struct codec *codec = NULL;
	cleanup_free uint8_t *data = calloc(1, CHUNK), *read = malloc(CHUNK), *frame = malloc(FRAME_MAX);
	struct chunk chunk = {0};
	struct index index = {.bytes = bytes, .sector = 512, .chunk_count = 1, .chunks = &chunk};
	struct fault fault = {0};

	for (size_t from = 0; from < bytes; from += GRANULE)
		if (noise || from % (3 * GRANULE) == 0) {
			chunk.used[from / GRANULE / 8] |= (uint8_t)(1u << (from / GRANULE % 8));
			for (size_t i = from; i < from + GRANULE && i < bytes; i++)
				data[i] = noise ? (uint8_t)draw() : (uint8_t)(i / 7);
		}
	ok(codec_open(level, &codec, &fault) == 0 && frame_make(codec, &index, &chunk, data, frame, &fault) == 0,
	   "level %d, %llu bytes: %u of frame", level, (unsigned long long)bytes, chunk.frame);
	ok(frame_read(codec, &index, &chunk, frame, read, &fault) == 0 && !memcmp(data, read, bytes), "and back: %s",
	   fault.text);
	chunk.hash[5] ^= 1;
	ok(frame_read(codec, &index, &chunk, frame, read, &fault) < 0 && fault.code == CODE_INTEGRITY,
	   "another hash: %s", fault.text);
}

static void test_frames(void) {
	for (int level = 1; level <= 19; level += 6)
		for (uint64_t bytes = 512; bytes <= CHUNK; bytes = bytes == 512	   ? 4608
								   : bytes == 4608 ? CHUNK
										   : CHUNK + 1) {
			one_frame(level, bytes, true);
			one_frame(level, bytes, false);
		}
}

static void test_base64(void) {
	uint8_t signature[SIGNATURE], read[SIGNATURE];
	char text[89];

	for (size_t i = 0; i < SIGNATURE; i++)
		signature[i] = (uint8_t)draw();
	signature_encode(signature, text);
	ok(strlen(text) == 88 && signature_decode(text, read) == 0 && !memcmp(read, signature, SIGNATURE),
	   "a signature in base64");
	text[85]++; // two bits that stand for nothing
	ok(signature_decode(text, read) == -EINVAL, "one text for each signature");
	text[87] = 0;
	ok(signature_decode(text, read) == -EINVAL, "a byte less");
	memset(text, ' ', 88);
	ok(signature_decode(text, read) == -EINVAL, "only spaces");
}

static void test_keys(void) {
	const char *vectors = getenv("SLED_VECTORS");
	struct keys keys = {0};
	struct fault fault = {0};
	uint8_t signature[SIGNATURE];
	char private[512], public[512];

	snprintf(private, sizeof(private), "%s/image/keys/test.key", vectors);
	snprintf(public, sizeof(public), "%s/image/keys/both.pub", vectors);
	ok(keys_read(public, &keys, &fault) == 0 && keys.count == 2, "two keys in a file");
	ok(key_sign(private, "a statement", signature, &fault) == 0, "signed: %s", fault.text);
	ok(keys_verify(&keys, "a statement", signature), "by one of them");
	ok(!keys_verify(&keys, "b statement", signature), "and not another statement");
	ok(keys_read(private, &keys, &fault) < 0 && fault.code == CODE_FAILED, "a private key is no public one: %s",
	   fault.text);
	ok(keys_read("/dev/null", &keys, &fault) < 0, "no key: %s", fault.text);
	ok(keys_read("/proc/none", &keys, &fault) < 0, "no file: %s", fault.text);
	ok(key_sign(public, "a statement", signature, &fault) < 0, "a public key does not sign: %s", fault.text);
}

#define MANY 100u // chunks, with a gap before each: several batches of prove_file

static void put_gap(FILE *file, uint64_t size) {
	uint8_t frame[GAP_FRAME_MAX];
	(void)fwrite(frame, 1, gap_write(size, frame), file);
}

// Frames and gaps of MANY chunks, then one more gap.
static void write_many(const char *path, struct image *image) {
	cleanup_with(codec_close) struct codec *codec = NULL;
	cleanup_free uint8_t *data = calloc(1, CHUNK), *frame = malloc(FRAME_MAX);
	cleanup_file FILE *file = fopen(path, "we");
	struct index *index = &image->index;
	struct fault fault;

	*index = (struct index){
		.bytes = (2 * MANY + 1) * CHUNK, .sector = 512, .chunks = calloc(MANY, sizeof(struct chunk))};
	if (codec_open(1, &codec, &fault) < 0)
		abort();
	for (uint32_t i = 0; i < MANY; i++) {
		struct chunk *chunk = &index->chunks[index->chunk_count++];
		*chunk = (struct chunk){.offset = (2 * i + 1) * CHUNK, .used = {1}};
		memset(data, (int)i, GRANULE);
		if (frame_make(codec, index, chunk, data, frame, &fault) < 0)
			abort();
		put_gap(file, CHUNK);
		(void)fwrite(frame, 1, chunk->frame, file);
	}
	put_gap(file, CHUNK);
	index_lay_out(index);
}

static int prove(const char *path, const struct image *image, struct fault *fault) {
	char text[512];
	struct urls urls = {.count = 1, .items = {{.text = text, .scheme = SCHEME_FILE, .host = text, .path = text}}};
	cleanup_with(source_close) struct source *source = NULL;
	struct progress progress = {0};
	int r;

	snprintf(text, sizeof(text), "%s", path);
	r = source_open(&urls, NULL, INT64_C(1000000000), &source, fault);
	if (r == 0)
		r = prove_file(source, image, &progress, fault);
	return r < 0 || progress.done == index_end(&image->index) ? r : -EDOM;
}

static void flip(const char *path, uint64_t at) {
	cleanup_file FILE *file = fopen(path, "r+e");
	int byte;

	(void)fseek(file, (long)at, SEEK_SET);
	byte = fgetc(file);
	(void)fseek(file, (long)at, SEEK_SET);
	(void)fputc(byte ^ 0x40, file);
}

static void test_threads(void) {
	const char *folder = getenv("TMPDIR");
	char path[512];
	struct image image = {0};
	struct fault fault = {0};
	unsigned seen = 0;

	snprintf(path, sizeof(path), "%s/many.%d", folder ? folder : "/tmp", (int)getpid());
	write_many(path, &image);
	ok(prove(path, &image, &fault) == 0, "a file of many chunks is right: %s", fault.text);
	for (uint32_t i = 0; i < MANY; i++) {
		uint64_t frame = image.index.chunks[i].at + 12, gap = image.index.chunks[i].at - 2;
		flip(path, frame);
		seen += prove(path, &image, &fault) < 0 && fault.code == CODE_INTEGRITY;
		flip(path, frame);
		flip(path, gap);
		seen += prove(path, &image, &fault) < 0 && fault.code == CODE_INTEGRITY;
		flip(path, gap);
	}
	ok(seen == 2 * MANY, "%u of %u faults are found", seen, 2 * MANY);
	ok(prove(path, &image, &fault) == 0, "and right again");
	unlink(path);
	image_close(&image);
}

int main(void) {
	test_index();
	test_frames();
	test_base64();
	test_keys();
	test_threads();
	return tap_done();
}
