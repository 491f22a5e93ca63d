// SPDX-License-Identifier: Apache-2.0
// Image to disk: disks that fail, lie and vanish; files that are damaged; writes that are interrupted and done again.
#include "write/write.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image_file.h"
#include "tap.h"
#include "write/delta.h"
#include "write/fit.h"
#include "write/marker.h"

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
static void make_image(void) {
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

static void begin(uint64_t bytes) {
	free(m.data);
	device = memory_open(&m, bytes, 512);
}

static int run_order(const struct write_order *order) {
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

static int run(enum write_mode mode, enum write_gaps gaps, enum write_check check) {
	return run_order(&(struct write_order){mode, gaps, check});
}

static bool is_right(const unsigned char *disk) {
	for (uint32_t i = 0; i < promised.chunk_count; i++)
		for (size_t from = 0, size = 0; chunk_run(&promised, &promised.chunks[i], from, &from, &size); from += size)
			if (memcmp(disk + promised.chunks[i].offset + from, wanted + promised.chunks[i].offset + from, size) != 0)
				return false;
	return true;
}

static bool all(unsigned char byte, uint64_t offset, uint64_t size) {
	return m.data[offset] == byte && !memcmp(m.data + offset, m.data + offset + 1, size - 1);
}

// No sector that firmware or a kernel looks at.
static bool dead(void) { return all(0, 0, 2048) && all(0, 2048 + 88, GRANULE - 2048 - 88); }

static bool untouched(void) { return all(0xa5, 0, m.bytes) && m.changes == 0; }

static void test_right(void) {
	begin(DISK);
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_FULL) == 0 && is_right(m.data), "a disk of just that size: %s", fault.text);
	ok(result.mode == WRITE_FULL && result.right_before == 0, "full, as asked");
	ok(result.fetched >= promised.used / 2 && result.fetched <= file_bytes + 512 * 1024, "fetched %llu", (unsigned long long)result.fetched);
	ok(progress.done == progress.total && progress.total > 0, "progress ends at its total");
	begin(LARGER);
	m.short_transfers = m.interrupted = true;
	m.can_zero = false;
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_FULL) == 0 && is_right(m.data), "a larger one, short and interrupted transfers: %s", fault.text);
	ok(all(0, LARGER - MIB, MIB), "an old copy of a partition table at its end is gone");
	begin(LARGER);
	ok(run(WRITE_AUTO, GAPS_DISCARD, CHECK_SAMPLE) == 0 && is_right(m.data) && result.mode == WRITE_FULL, "auto: %s", result.why);
	ok(run(WRITE_AUTO, GAPS_DISCARD, CHECK_NONE) == 0 && is_right(m.data), "auto, once more: %s", result.why);
}

// Free bytes of the disk, the first and last MiB left out, that are none of the two.
static uint64_t free_bytes_not(unsigned char byte, unsigned char other) {
	uint64_t count = 0;
	uint8_t *used = calloc(1, m.bytes);

	for (uint32_t i = 0; i < promised.chunk_count; i++)
		for (size_t from = 0, size = 0; chunk_run(&promised, &promised.chunks[i], from, &from, &size); from += size)
			memset(used + promised.chunks[i].offset + from, 1, size);
	for (uint64_t at = MIB; at < m.bytes - MIB; at++)
		count += !used[at] && m.data[at] != byte && m.data[at] != other;
	free(used);
	return count;
}

static void test_gaps(void) {
	for (int mode = WRITE_FULL; mode <= WRITE_DELTA; mode++) {
		begin(LARGER);
		ok(run((enum write_mode)mode, GAPS_KEEP, CHECK_FULL) == 0 && is_right(m.data) && free_bytes_not(0xa5, 0xa5) == 0, "keep: nothing of it is touched: %s", fault.text);
		begin(LARGER);
		ok(run((enum write_mode)mode, GAPS_ZERO, CHECK_FULL) == 0 && is_right(m.data) && free_bytes_not(0, 0) == 0, "zero: all of it reads as zero");
		begin(LARGER);
		m.can_zero = m.can_discard = false;
		ok(run((enum write_mode)mode, GAPS_ZERO, CHECK_FULL) == 0 && is_right(m.data) && free_bytes_not(0, 0) == 0, "also of a disk that can nothing but write");
		begin(LARGER);
		ok(run((enum write_mode)mode, GAPS_DISCARD, CHECK_FULL) == 0 && is_right(m.data) && all(0, 5 * MIB, 4 * MIB) && all(0, 22 * MIB, 8 * MIB), "discard: large gaps are");
		begin(LARGER);
		m.can_discard = false;
		ok(run((enum write_mode)mode, GAPS_DISCARD, CHECK_FULL) == 0 && is_right(m.data) && free_bytes_not(0xa5, 0) == 0, "of a disk that cannot: left as they are");
	}
	begin(DISK);
	ok(run(WRITE_FULL, GAPS_KEEP, CHECK_NONE) == 0 && run(WRITE_DELTA, GAPS_ZERO, CHECK_FULL) == 0 && is_right(m.data) && free_bytes_not(0, 0) == 0,
	   "zero, around chunks that are right: %s", fault.text);
	memset(m.data + 17 * MIB, 0xa5, MIB);
	ok(run(WRITE_DELTA, GAPS_DISCARD, CHECK_FULL) == 0 && is_right(m.data) && all(0, 17 * MIB, MIB), "and discard");
}

static void test_delta(void) {
	begin(DISK);
	ok(run(WRITE_FULL, GAPS_KEEP, CHECK_NONE) == 0, "written once");
	ok(result.written == MIB + promised.used - 17 * GRANULE, "%llu bytes were", (unsigned long long)result.written);
	ok(m.written == result.written + GRANULE, "and no more but the marker: %llu", (unsigned long long)m.written);
	m.data[10 * MIB + 5] ^= 1;
	m.written = 0;
	ok(run(WRITE_DELTA, GAPS_KEEP, CHECK_FULL) == 0 && is_right(m.data), "delta: %s", fault.text);
	// The first and the last MiB were dead meanwhile; chunk 20 is 1024 bytes of the last one, as is what it shares of 19, which has none.
	ok(result.mode == WRITE_DELTA && result.written == 2 * MIB + 1024, "%llu bytes written", (unsigned long long)result.written);
	ok(result.fetched < 5 * MIB, "%llu fetched", (unsigned long long)result.fetched);
}

static bool marked(void) {
	bool found = false;
	struct image image = {0};
	struct urls urls = {0};
	struct source *source = NULL;
	struct image_trust trust = {0};

	if (urls_parse(url, &urls, &fault) < 0 || source_open(&urls, NULL, 1000000000, &source, &fault) < 0 ||
	    image_open(source, &trust, &image, &fault) < 0 || marker_find(&device, image.trailer.digest, &found, &fault) < 0)
		abort();
	image_close(&image);
	source_close(&source);
	urls_free(&urls);
	return found;
}

static void test_faults(void) {
	static const struct { int error; const char *text; } faults[] = {{EIO, "Input/output"}, {ENOSPC, "No space"}, {ENODEV, "No such device"}, {ENXIO, "No such device"}};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		begin(DISK);
		m.fail_at = 12 * MIB + 5;
		m.error = faults[i].error;
		ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_FULL) < 0 && fault.code == CODE_FAILED, "code 1: %s", fault.text);
		ok(strstr(fault.text, "12582912") && strstr(fault.text, "memory") && strstr(fault.text, faults[i].text), "which names disk, place and reason");
		ok(dead() && marked(), "nothing starts from the disk; it can be gone on with");
		m.fail_at = UINT64_MAX;
		ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_FULL) == 0 && is_right(m.data) && strstr(result.why, "interrupted") && result.mode == WRITE_DELTA, "which is done: %s", result.why);
	}
	begin(DISK);
	m.fail_at = 0;
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_FULL) < 0 && fault.code == CODE_FAILED, "the first MiB cannot be written: %s", fault.text);
	begin(19 * MIB);
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_FULL) < 0 && fault.code == CODE_DISK && untouched(), "too small: %s", fault.text);
	begin(LARGER);
	device.sector = 4096;
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_FULL) < 0 && fault.code == CODE_UNSUPPORTED && untouched(), "another sector: %s", fault.text);
}

// A byte that keeps its value, of which the image wants another one.
static void stick(uint64_t at) {
	begin(DISK);
	m.stuck = true;
	m.stuck_at = at;
	m.data[at] = (unsigned char)~wanted[at];
}

static void test_check(void) {
	stick(11 * MIB + 17);
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_FULL) < 0 && fault.code == CODE_INTEGRITY && strstr(fault.text, "11534336"), "code 5: %s", fault.text);
	ok(dead() && marked(), "nothing starts from the disk");
	stick(11 * MIB + 17);
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_SAMPLE) < 0 && fault.code == CODE_INTEGRITY, "a sample of a small disk is all of it");
	stick(11 * MIB + 17);
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_NONE) == 0 && !is_right(m.data), "nobody looks, nobody sees");
	stick(8000);
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_SAMPLE) < 0 && fault.code == CODE_INTEGRITY && dead() && marked(), "in the first MiB: %s", fault.text);
	stick(100);
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_SAMPLE) < 0 && fault.code == CODE_INTEGRITY && all(0, 512, 1536), "in its first granule: %s", fault.text);
}

// The power is cut after each number of changes there is: then all is done again.
static void test_cuts(void) {
	unsigned total, wrong = 0, alive = 0, resumed = 0;

	begin(DISK);
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_NONE) == 0, "as a whole");
	total = m.changes;
	for (unsigned cut = 1; cut < total; cut++) {
		begin(DISK);
		m.dies_after = cut;
		if (run(WRITE_FULL, GAPS_DISCARD, CHECK_NONE) == 0)
			wrong++;
		alive += !dead() && !all(0xa5, 0, MIB);
		m.dies_after = 0;
		if (run(WRITE_FULL, GAPS_DISCARD, CHECK_FULL) < 0 || !is_right(m.data))
			wrong++;
		resumed += result.mode == WRITE_DELTA;
	}
	ok(wrong == 0, "%u cuts: %u went wrong", total - 1, wrong);
	ok(alive == 0, "and never was there a disk half alive");
	ok(resumed >= total - 7, "%u were gone on with", resumed);
}

static void test_marker(void) {
	uint8_t digest[HASH] = {1, 2, 3}, other[HASH] = {1, 2, 4};
	bool found = false;

	begin(DISK);
	ok(marker_write(&device, digest, &fault) == 0 && marker_find(&device, digest, &found, &fault) == 0 && found, "a marker is found");
	ok(marker_find(&device, other, &found, &fault) == 0 && !found, "not for another image");
	for (unsigned bit = 0, misled = 0; bit <= GRANULE * 8; bit++) {
		if (bit == GRANULE * 8) {
			ok(misled == 0, "not with one bit of its granule wrong");
			break;
		}
		m.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
		misled += marker_find(&device, digest, &found, &fault) == 0 && found;
		m.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	device.bytes -= 512;
	ok(marker_find(&device, digest, &found, &fault) == 0 && !found, "nor on a disk of another size, to which it was copied");
}

static int flip(uint64_t place, unsigned bit) {
	int fd = open(path, O_RDWR);
	uint8_t byte;
	bool done = fd >= 0 && pread(fd, &byte, 1, (off_t)place) == 1;

	byte ^= (uint8_t)(1u << bit);
	done = done && pwrite(fd, &byte, 1, (off_t)place) == 1;
	close(fd);
	return done ? 0 : -1;
}

// What is left of the chunk that the place is a part of: false when it was written.
static bool is_not_written(uint64_t place) {
	for (uint32_t i = 0; i < promised.chunk_count; i++) {
		const struct chunk *chunk = &promised.chunks[i];
		size_t from = 0, size = 0;
		bool kept = chunk->offset == 0;
		if (place < chunk->at || place >= chunk->at + chunk->frame)
			continue;
		for (; !kept && chunk_run(&promised, chunk, from, &from, &size); from += size)
			if (memcmp(m.data + chunk->offset + from, wanted + chunk->offset + from, size) == 0)
				return false;
		return true;
	}
	return true;
}

static void test_flips(void) {
	unsigned seed = 42, refused = 0, survived = 0, written = 0, alive = 0;

	for (unsigned i = 0; i < 200; i++) {
		uint64_t place = (uint64_t)rand_r(&seed) % file_bytes;
		unsigned bit = (unsigned)rand_r(&seed) % 8;
		bool in_gap = true;
		for (uint32_t c = 0; c < promised.chunk_count; c++)
			in_gap &= place < promised.chunks[c].at || place >= promised.chunks[c].at + promised.chunks[c].frame;
		in_gap &= place < index_end(&promised);
		begin(DISK);
		if (flip(place, bit) < 0)
			abort();
		if (run(WRITE_FULL, GAPS_KEEP, CHECK_NONE) == 0)
			survived += !in_gap;
		else
			refused += fault.code == CODE_INTEGRITY;
		written += !in_gap && !is_not_written(place);
		alive += !in_gap && !dead() && !untouched();
		if (flip(place, bit) < 0)
			abort();
	}
	ok(survived == 0 && refused > 180, "200 flipped bits: %u refused with code 5, %u that matter were not", refused, survived);
	ok(written == 0, "of the damaged chunk nothing was written");
	ok(alive == 0, "and the disk is untouched or dead");
}

static void test_file_ends(void) {
	struct stat st;

	begin(DISK);
	if (stat(path, &st) < 0 || truncate(path, st.st_size / 2) < 0)
		abort();
	ok(run(WRITE_FULL, GAPS_KEEP, CHECK_NONE) < 0 && fault.code == CODE_INTEGRITY && untouched(), "half a file: %s", fault.text);
	unlink(path);
	ok(run(WRITE_FULL, GAPS_KEEP, CHECK_NONE) < 0 && untouched(), "none: %s", fault.text);
}

// The real thing: a file with O_DIRECT, where the kernel has it, and io_uring.
static void test_real_file(void) {
	char target[560];
	unsigned char *there = malloc(LARGER);
	int fd;

	snprintf(target, sizeof(target), "%s.disk", path);
	unlink(target);
	ok(device_open_file(target, LARGER, 512, &device, &fault) == 0, "a file is made: %s", fault.text);
	ok(run(WRITE_FULL, GAPS_ZERO, CHECK_FULL) == 0, "and written to: %s", fault.text);
	device_close(&device);
	fd = open(target, O_RDONLY);
	ok(pread(fd, there, LARGER, 0) == (ssize_t)LARGER && is_right(there), "it holds the image");
	close(fd);
	ok(device_open_file(target, DISK, 512, &device, &fault) == 0 && device.bytes == LARGER, "it keeps its size");
	ok(run(WRITE_DELTA, GAPS_DISCARD, CHECK_SAMPLE) == 0 && result.right_before == promised.used, "all of it is right: %s", fault.text);
	device_close(&device);
	unlink(target);
	ok(device_open_file("/dev/null", DISK, 512, &device, &fault) < 0 && fault.code == CODE_DISK, "only a regular file: %s", fault.text);
	free(there);
}

int main(void) {
	const char *folder = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/write-%d.raw.zst", folder ? folder : "/tmp", (int)getpid());
	snprintf(url, sizeof(url), "file://%s", path);
	make_image();
	test_right();
	test_gaps();
	test_delta();
	test_faults();
	test_check();
	test_cuts();
	test_marker();
	test_flips();
	test_real_file();
	test_file_ends();
	unlink(path);
	free(m.data);
	free(wanted);
	index_free(&promised);
	return tap_done();
}
