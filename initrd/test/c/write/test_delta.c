// SPDX-License-Identifier: Apache-2.0
#include "base/cleanup.h"
#include "base/clock.h"
#include "image/bitmap.h"
#include "image/memory_image.h"
#include "tap.h"
#include "write/choose.h"
#include "write/delta.h"

#define MIB ((uint64_t)1 << 20)
#define DISK (40 * MIB + 11 * 512) // the last granule is short

static struct memory_disk m;
static struct device device;
static struct index image;
static struct delta delta;
static struct fault fault;
static uint8_t wanted[16];
static uint64_t shown_done, shown_total;

// The disk holds noise, and all of it is as the image promises: chunk 0 whole, 1 in pieces, 3 to 39 whole, 40 short.
static void begin(void) {
	unsigned seed = 1;

	free(m.data);
	index_free(&image);
	device = memory_open(&m, DISK, 512);
	for (uint64_t i = 0; i < DISK; i++)
		m.data[i] = (unsigned char)rand_r(&seed);
	image = image_begin(DISK, 512);
	image_use(&image, 0, MIB);
	for (unsigned i = 0; i < 256; i += 3)
		image_use(&image, MIB + i * GRANULE, GRANULE);
	image_use(&image, 3 * MIB, DISK - 3 * MIB);
	image_end(&image, &m);
	bitmap_fill(&image, wanted);
	fault = (struct fault){0};
}

static unsigned count(void) {
	unsigned n = 0;

	for (unsigned i = 0; i < sizeof(wanted) * 8; i++)
		n += bitmap_has(wanted, i);
	return n;
}

static bool find(void) { return delta_find(&device, &image, wanted, &delta, NULL, &fault) == 0; }

static void test_find(void) {
	begin();
	ok(image.chunk_count == 40 && count() == 40, "40 chunks to look at");
	ok(find() && count() == 0, "a disk that is right: none is wanted");
	ok(delta.looked_at == 40 && delta.differ == 0 && delta.right == image.used, "and all used bytes are right");
	begin();
	m.data[0] ^= 1;
	m.data[MIB + GRANULE] ^= 1; // free
	m.data[5 * MIB + 77] ^= 1;
	m.data[DISK - 1] ^= 1;
	ok(find() && count() == 3 && bitmap_has(wanted, 0) && bitmap_has(wanted, 4) && bitmap_has(wanted, 39),
	   "three used bytes differ, one free one does");
	ok(delta.differ == 3 && delta.right == image.used - 2 * MIB - 11 * 512, "used bytes that are right: %llu",
	   (unsigned long long)delta.right);
	memset(wanted, 0, sizeof(wanted));
	bitmap_add(wanted, 4);
	bitmap_add(wanted, 7);
	ok(find() && count() == 1 && bitmap_has(wanted, 4) && delta.looked_at == 2,
	   "looks only at what it was asked about");
	memset(wanted, 0, sizeof(wanted));
	ok(find() && delta.looked_at == 0 && delta.read == 0, "which may be nothing");
}

static void test_sparse(void) {
	begin();
	index_free(&image);
	memset(wanted, 0, sizeof(wanted));
	image = image_begin(DISK, 512);
	image_use(&image, 2 * MIB, GRANULE);
	image_use(&image, 2 * MIB + 32 * 1024, GRANULE);
	image_use(&image, 2 * MIB + 512 * 1024, GRANULE);
	image_end(&image, &m);
	bitmap_fill(&image, wanted);
	ok(find() && count() == 0, "a chunk with holes");
	ok(delta.read == 32 * 1024 + 2 * GRANULE, "a small hole is read along, a large one is not: %llu",
	   (unsigned long long)delta.read);
}

static ssize_t bad_pread(struct device *d, void *data, size_t size, uint64_t offset) {
	const uint64_t bad = 9 * MIB + 5000;
	return offset <= bad && bad - offset < size ? -EIO : memory_pread(d, data, size, offset);
}

static void test_faults(void) {
	struct device_ops bad;

	begin();
	bad = *device.ops;
	bad.pread = bad_pread;
	device.ops = &bad;
	ok(find() && count() == 1 && bitmap_has(wanted, 8), "a chunk that cannot be read is not right");
	ok(delta.unreadable == 1 && delta.differ == 1, "and is counted");
	begin();
	device.bytes = 40 * MIB;
	ok(find() && count() == 1 && bitmap_has(wanted, 39) && delta.unreadable == 0, "nor is one past the disk's end");
	begin();
	m.short_transfers = true;
	ok(find() && count() == 0, "short reads");
}

static void show(const struct progress *progress) {
	shown_done = progress->done;
	shown_total = progress->total;
}

static void test_progress(void) {
	struct progress progress = {.show = show};

	begin();
	ok(delta_find(&device, &image, wanted, &delta, &progress, &fault) == 0 && shown_total == image.used &&
		   shown_done == image.used,
	   "progress counts used bytes: %llu of %llu", (unsigned long long)shown_done, (unsigned long long)shown_total);
}

static void test_sample(void) {
	struct delta again;

	begin();
	memset(m.data, 0, 20 * MIB);
	ok(delta_sample(&device, &image, 8, 7, &delta, &fault) == 0 && delta.looked_at == 8, "8 of 40 chunks");
	ok(delta.differ == 4, "are spread: half of them lie in the half that differs (%u)", delta.differ);
	ok(delta_sample(&device, &image, 8, 7, &again, &fault) == 0 && again.read == delta.read,
	   "the same seed, the same chunks");
	ok(delta_sample(&device, &image, 1000, 7, &delta, &fault) == 0 && delta.looked_at == 40 && delta.differ == 19,
	   "at most all");
	image.chunk_count = 0;
	ok(delta_sample(&device, &image, 8, 7, &delta, &fault) == 0 && delta.looked_at == 0, "of an empty image none");
}

// A file of that many zeros for the image: what is in its frames is not looked at.
static int choose(uint64_t size, struct chosen *ret) {
	cleanup_with(urls_free) struct urls urls = {0};
	cleanup_with(source_close) struct source *source = NULL;
	struct image whole = {.index = image};
	char path[] = "/tmp/delta-XXXXXX", url[64];
	cleanup_close int fd = mkstemp(path);
	int r;

	if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
		return -1;
	snprintf(url, sizeof(url), "file://%s", path);
	r = urls_parse(url, &urls, &fault);
	if (r == 0)
		r = source_open(&urls, NULL, SECOND, &source, &fault);
	if (r == 0)
		r = choose_write_mode(source, &device, &whole, NULL, ret, &fault);
	unlink(path);
	return r;
}

static void test_choose(void) {
	struct chosen choice = {0};

	begin();
	ok(choose(index_end(&image), &choice) == 0 &&
		   strstr(choice.why, ": 0 % of 32 sampled chunks differ; reading takes "),
	   "%s", choice.why);
	ok(choose(100, &choice) < 0 && fault.code == CODE_INTEGRITY, "a file that is shorter than its index says: %s",
	   fault.text);
	memset(m.data, 0, DISK);
	ok(choose(100, &choice) == 0 && choice.mode == WRITE_FULL, "a wiped disk, whatever the source");
	same(choice.why, "full: 32 of 32 sampled chunks differ", "and why");
}

int main(void) {
	test_find();
	test_sparse();
	test_faults();
	test_progress();
	test_sample();
	test_choose();
	free(m.data);
	index_free(&image);
	return tap_done();
}
