// SPDX-License-Identifier: Apache-2.0
// Image to disk, with sources and disks that fail.
#include <openssl/evp.h>
#include <zstd.h>

#include "image/write.h"
#include "memory_disk.h"
#include "tap.h"

#define MIB ((uint64_t)1 << 20)
#define IMAGE_BYTES (12 * MIB + 1024)

struct memory_source {
	struct source base;
	const unsigned char *data;
	size_t size, at, step, fail_at;
};

static int memory_source_read(struct source *s, void *data, size_t size, size_t *ret, struct fault *fault) {
	struct memory_source *m = (struct memory_source *)s;
	size_t n = m->size - m->at;
	if (m->at >= m->fail_at)
		return fault_set(fault, CODE_NETWORK, "gone");
	n = n < size ? n : size;
	n = n < m->step ? n : m->step;
	memcpy(data, m->data + m->at, n);
	m->at += n;
	*ret = n;
	return 0;
}

static void memory_source_close(struct source *s) { free(s); }

static struct source *open_memory(const void *data, size_t size, size_t step, size_t fail_at) {
	static const struct source_ops ops = {memory_source_read, memory_source_close};
	struct memory_source *m = malloc(sizeof(*m));
	*m = (struct memory_source){{&ops}, data, size, 0, step, fail_at};
	return &m->base;
}

static unsigned char *image, *packed;
static size_t packed_size;
static char raw_digest[80], packed_digest[80];
static struct memory_disk m;
static struct device device;
static struct progress progress;
static struct fault fault;

static void digest(const void *data, size_t size, char ret[80]) {
	unsigned char bytes[32];
	EVP_Digest(data, size, bytes, NULL, EVP_sha256(), NULL);
	strcpy(ret, "sha256:");
	for (int i = 0; i < 32; i++)
		sprintf(ret + 7 + 2 * i, "%02x", bytes[i]);
}

// Data, four MiB of zeros, data, and an end within a MiB.
static void make_image(void) {
	size_t room = ZSTD_compressBound(IMAGE_BYTES);
	image = malloc(IMAGE_BYTES);
	packed = malloc(room + 64);
	for (size_t i = 0; i < IMAGE_BYTES; i++)
		image[i] = (unsigned char)(i * 31 + (i >> 9));
	memset(image + 3 * MIB, 0, 4 * MIB);
	packed_size = ZSTD_compress(packed, room, image, 6 * MIB, 3);
	packed_size += ZSTD_compress(packed + packed_size, room - packed_size, image + 6 * MIB, IMAGE_BYTES - 6 * MIB, 3);
	memcpy(packed + packed_size, "\x5e\x2a\x4d\x18\x04\x00\x00\x00skip", 12); // a skippable frame at the end
	packed_size += 12;
	digest(image, IMAGE_BYTES, raw_digest);
	digest(packed, packed_size, packed_digest);
}

static void begin(uint64_t bytes, uint32_t sector) {
	free(m.data);
	device = memory_open(&m, bytes, sector);
	fault = (struct fault){0};
}

static int run(struct source *source, bool raw, uint64_t bytes) {
	struct write_order order = {bytes, raw ? raw_digest : packed_digest, raw};
	return write_image(source, &order, &device, &progress, &fault);
}

static bool zero(uint64_t offset, uint64_t size) {
	return m.data[offset] == 0 && !memcmp(m.data + offset, m.data + offset + 1, size - 1);
}

static bool written(void) { return !memcmp(m.data, image, IMAGE_BYTES); }

// Neither the first nor the last MiB says anything: nothing starts from it.
static bool dead(void) { return zero(0, MIB) && zero(m.bytes - MIB, MIB) && zero(12 * MIB, 1024); }

static void test_right(void) {
	begin(20 * MIB, 512);
	ok(run(open_memory(image, IMAGE_BYTES, 100000, SIZE_MAX), true, IMAGE_BYTES) == 0 && written(), "raw: %s", fault.text);
	ok(m.zero_calls > 0, "runs of zeros by the disk's own means");
	ok(zero(19 * MIB, MIB), "an old copy of a partition table at the disk's end is gone");
	ok(progress.done == IMAGE_BYTES && progress.total == IMAGE_BYTES, "progress ends at the image's end");
	begin(20 * MIB, 4096);
	m.short_transfers = m.interrupted = true;
	m.can_zero = false;
	ok(run(open_memory(packed, packed_size, 777, SIZE_MAX), false, IMAGE_BYTES) == 0 && written(), "zstd, short and interrupted writes: %s", fault.text);
	begin(IMAGE_BYTES, 512);
	ok(run(open_memory(packed, packed_size, SIZE_MAX, SIZE_MAX), false, IMAGE_BYTES) == 0 && written(), "a disk of just that size");
}

static void fails(const char *what, int r, enum exit_code code) {
	ok(r < 0 && fault.code == code, "%s: %s", what, fault.text);
	ok(dead(), "%s: nothing can start from the disk", what);
}

static void test_wrong_bytes(void) {
	begin(20 * MIB, 512);
	image[5000] ^= 1;
	fails("raw altered", run(open_memory(image, IMAGE_BYTES, SIZE_MAX, SIZE_MAX), true, IMAGE_BYTES), CODE_INTEGRITY);
	image[5000] ^= 1;
	begin(20 * MIB, 512);
	packed[packed_size / 2] ^= 0x40;
	fails("zstd altered", run(open_memory(packed, packed_size, SIZE_MAX, SIZE_MAX), false, IMAGE_BYTES), CODE_INTEGRITY);
	packed[packed_size / 2] ^= 0x40;
	begin(20 * MIB, 512);
	packed[packed_size - 1] ^= 1; // in the skippable frame: decodes to the same disk, is another file
	fails("file altered where it does not matter", run(open_memory(packed, packed_size, SIZE_MAX, SIZE_MAX), false, IMAGE_BYTES), CODE_INTEGRITY);
	packed[packed_size - 1] ^= 1;
	begin(20 * MIB, 512);
	fails("file ends early", run(open_memory(packed, packed_size / 2, SIZE_MAX, SIZE_MAX), false, IMAGE_BYTES), CODE_INTEGRITY);
	begin(20 * MIB, 512);
	fails("image shorter than promised", run(open_memory(packed, packed_size, SIZE_MAX, SIZE_MAX), false, IMAGE_BYTES + 512), CODE_INTEGRITY);
	begin(20 * MIB, 512);
	ok(run(open_memory(packed, packed_size, SIZE_MAX, SIZE_MAX), false, 8 * MIB) < 0 && fault.code == CODE_INTEGRITY, "image longer than promised");
	ok(zero(0, MIB) && m.data[9 * MIB] == 0xa5, "nothing is written past its end");
	begin(20 * MIB, 512);
	fails("not zstd", run(open_memory("#!/bin/sh", 9, SIZE_MAX, SIZE_MAX), false, IMAGE_BYTES), CODE_INTEGRITY);
	begin(20 * MIB, 512);
	fails("empty", run(open_memory("", 0, SIZE_MAX, SIZE_MAX), false, IMAGE_BYTES), CODE_INTEGRITY);
}

static void test_faults(void) {
	begin(20 * MIB, 512);
	fails("network", run(open_memory(packed, packed_size, 5000, packed_size / 2), false, IMAGE_BYTES), CODE_NETWORK);
	begin(20 * MIB, 512);
	m.fail_at = 9 * MIB + 5;
	fails("EIO", run(open_memory(image, IMAGE_BYTES, SIZE_MAX, SIZE_MAX), true, IMAGE_BYTES), CODE_FAILED);
	ok(strstr(fault.text, "9437184"), "which names the place");
	begin(20 * MIB, 512);
	m.fail_at = 2 * MIB;
	m.error = ENOSPC;
	fails("ENOSPC", run(open_memory(image, IMAGE_BYTES, SIZE_MAX, SIZE_MAX), true, IMAGE_BYTES), CODE_FAILED);
	begin(8 * MIB, 512);
	ok(run(open_memory(image, IMAGE_BYTES, SIZE_MAX, SIZE_MAX), true, IMAGE_BYTES) < 0 && fault.code == CODE_DISK, "disk too small: %s", fault.text);
	ok(m.data[0] == 0xa5 && m.written_blocks == 0 && m.zero_calls == 0, "nothing was touched");
}

static void test_window(void) {
	size_t room = ZSTD_compressBound(IMAGE_BYTES), n;
	unsigned char *large = malloc(room);
	ZSTD_CCtx *c = ZSTD_createCCtx();
	struct write_order order = {IMAGE_BYTES, raw_digest, false};

	ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, 27);
	ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, 0);
	ZSTD_inBuffer in = {image, IMAGE_BYTES, 0};
	ZSTD_outBuffer out = {large, room, 0};
	ZSTD_compressStream2(c, &out, &in, ZSTD_e_flush); // of unknown size: the window is not cut to it
	ZSTD_compressStream2(c, &out, &in, ZSTD_e_end);
	n = out.pos;
	begin(20 * MIB, 512);
	ok(write_image(open_memory(large, n, SIZE_MAX, SIZE_MAX), &order, &device, &progress, &fault) < 0 && fault.code == CODE_UNSUPPORTED,
	   "a window that takes too much memory: %s", fault.text);
	ZSTD_freeCCtx(c);
	free(large);
}

int main(void) {
	make_image();
	test_right();
	test_wrong_bytes();
	test_faults();
	test_window();
	free(m.data);
	free(image);
	free(packed);
	return tap_done();
}
