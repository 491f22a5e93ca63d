// SPDX-License-Identifier: Apache-2.0
// An image file and a disk in memory that it is written to.
#pragma once

#include <unistd.h>

#include "image/image_file.h"
#include "disk/memory_disk.h"
#include "tap.h"
#include "write/marker.h"
#include "write/write.h"

#define MIB ((uint64_t)1 << 20)
#define DISK (20 * MIB + 1024)
#define LARGER (30 * MIB)

static char path[512], url[600];
static unsigned char *wanted; // the disk as it should be, used bytes
static struct index promised;
static uint64_t file_bytes;
static struct memory_disk m;
static struct device device;
static struct progress progress;
static struct written result;
static struct fault fault;

// Noise in the first MiB, whole chunks, pieces at every distance, a gap, and an end within a granule.
static inline void make_image(void) {
	unsigned seed = 7;

	wanted = malloc(DISK);
	for (uint64_t i = 0; i < DISK; i++)
		wanted[i] = (unsigned char)(rand_r(&seed) >> 8);
	promised = image_begin(DISK, 512);
	image_use(&promised, 0, 64 * 1024);
	image_use(&promised, MIB - GRANULE, 2 * MIB);
	for (unsigned i = 0, at = 0; at < CHUNK_GRANULES; at += ++i)
		image_use(&promised, 4 * MIB + at * GRANULE, GRANULE);
	image_use(&promised, 9 * MIB, 7 * MIB);
	image_use(&promised, 18 * MIB + 8 * GRANULE, 3 * GRANULE);
	image_use(&promised, 20 * MIB, 1024);
	file_bytes = image_file(path, &promised, wanted);
}

static inline void begin(uint64_t bytes) {
	free(m.data);
	device = memory_open(&m, bytes, 512);
}

static inline int run_order(const struct write_order *order) {
	struct urls urls = {0};
	struct source *source = NULL;
	struct image image = {0};
	struct image_trust trust = {0};
	int r;

	fault = (struct fault){0};
	r = urls_parse(url, &urls, &fault);
	if (r == 0)
		r = source_open(&urls, NULL, INT64_C(1000000000), &source, &fault);
	if (r == 0)
		r = image_open(source, &trust, &image, &fault);
	if (r == 0)
		r = write_image(source, &image, order, &device, &result, &progress, &fault);
	image_close(&image);
	source_close(&source);
	urls_free(&urls);
	return r;
}

static inline int run(enum write_mode mode, enum write_gaps gaps, enum write_check check) {
	return run_order(&(struct write_order){.mode = mode, .gaps = gaps, .check = check});
}

static inline bool is_right(const unsigned char *disk) {
	for (uint32_t i = 0; i < promised.chunk_count; i++)
		for (size_t from = 0, size = 0; chunk_run(&promised, &promised.chunks[i], from, &from, &size);
		     from += size)
			if (memcmp(disk + promised.chunks[i].offset + from, wanted + promised.chunks[i].offset + from,
				   size) != 0)
				return false;
	return true;
}

static inline bool all(unsigned char byte, uint64_t offset, uint64_t size) {
	return m.data[offset] == byte && !memcmp(m.data + offset, m.data + offset + 1, size - 1);
}

// No sector that firmware or a kernel looks at.
static inline bool dead(void) { return all(0, 0, 2048) && all(0, 2048 + 88, GRANULE - 2048 - 88); }

static inline bool untouched(void) { return all(0xa5, 0, m.bytes) && m.changes == 0; }

static inline bool marked(void) {
	bool found = false;
	struct image image = {0};
	struct urls urls = {0};
	struct source *source = NULL;
	struct image_trust trust = {0};

	if (urls_parse(url, &urls, &fault) < 0 || source_open(&urls, NULL, 1000000000, &source, &fault) < 0 ||
	    image_open(source, &trust, &image, &fault) < 0 ||
	    marker_find(&device, image.trailer.digest, &found, &fault) < 0)
		abort();
	image_close(&image);
	source_close(&source);
	urls_free(&urls);
	return found;
}

static inline void start_images(void) {
	const char *folder = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/write-%d.raw.zst", folder ? folder : "/tmp", (int)getpid());
	snprintf(url, sizeof(url), "file://%s", path);
	make_image();
}

static inline void end_images(void) {
	unlink(path);
	free(m.data);
	free(wanted);
	index_free(&promised);
}
