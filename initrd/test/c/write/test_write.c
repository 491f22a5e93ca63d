// SPDX-License-Identifier: Apache-2.0
// Image to disk: what lies on the disk after a whole write, in each mode, and what of it was fetched and written.
#include "write/write.h"

#include <fcntl.h>
#include <unistd.h>

#include "tap.h"
#include "write/marker.h"
#include "written_image.h"

static void test_right(void) {
	begin(DISK);
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_FULL) == 0 && is_right(m.data), "a disk of just that size: %s",
	   fault.text);
	ok(result.mode == WRITE_FULL && result.right_before == 0, "full, as asked");
	ok(result.fetched >= promised.used / 2 && result.fetched <= file_bytes + 512 * 1024, "fetched %llu",
	   (unsigned long long)result.fetched);
	ok(progress.done == progress.total && progress.total > 0, "progress ends at its total");
	begin(LARGER);
	m.short_transfers = m.interrupted = true;
	m.can_zero = false;
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_FULL) == 0 && is_right(m.data),
	   "a larger one, short and interrupted transfers: %s", fault.text);
	ok(all(0, LARGER - MIB, MIB), "an old copy of a partition table at its end is gone");
	begin(LARGER);
	ok(run(WRITE_AUTO, GAPS_DISCARD, CHECK_SAMPLE) == 0 && is_right(m.data) && result.mode == WRITE_FULL,
	   "auto: %s", result.why);
	ok(run(WRITE_AUTO, GAPS_DISCARD, CHECK_NONE) == 0 && is_right(m.data), "auto, once more: %s", result.why);
}

// Free bytes of the disk, the first and last MiB left out, that are none of the two.
static uint64_t free_bytes_not(unsigned char byte, unsigned char other) {
	uint64_t count = 0;
	uint8_t *used = calloc(1, m.bytes);

	for (uint32_t i = 0; i < promised.chunk_count; i++)
		for (size_t from = 0, size = 0; chunk_run(&promised, &promised.chunks[i], from, &from, &size);
		     from += size)
			memset(used + promised.chunks[i].offset + from, 1, size);
	for (uint64_t at = MIB; at < m.bytes - MIB; at++)
		count += !used[at] && m.data[at] != byte && m.data[at] != other;
	free(used);
	return count;
}

static void test_gaps(void) {
	for (int mode = WRITE_FULL; mode <= WRITE_DELTA; mode++) {
		begin(LARGER);
		ok(run((enum write_mode)mode, GAPS_KEEP, CHECK_FULL) == 0 && is_right(m.data) &&
			   free_bytes_not(0xa5, 0xa5) == 0,
		   "keep: nothing of it is touched: %s", fault.text);
		begin(LARGER);
		ok(run((enum write_mode)mode, GAPS_ZERO, CHECK_FULL) == 0 && is_right(m.data) &&
			   free_bytes_not(0, 0) == 0,
		   "zero: all of it reads as zero");
		begin(LARGER);
		m.can_zero = m.can_discard = false;
		ok(run((enum write_mode)mode, GAPS_ZERO, CHECK_FULL) == 0 && is_right(m.data) &&
			   free_bytes_not(0, 0) == 0,
		   "also of a disk that can nothing but write");
		begin(LARGER);
		ok(run((enum write_mode)mode, GAPS_DISCARD, CHECK_FULL) == 0 && is_right(m.data) &&
			   all(0, 5 * MIB, 4 * MIB) && all(0, 22 * MIB, 8 * MIB),
		   "discard: large gaps are");
		begin(LARGER);
		m.can_discard = false;
		ok(run((enum write_mode)mode, GAPS_DISCARD, CHECK_FULL) == 0 && is_right(m.data) &&
			   free_bytes_not(0xa5, 0) == 0,
		   "of a disk that cannot: left as they are");
	}
	begin(DISK);
	ok(run(WRITE_FULL, GAPS_KEEP, CHECK_NONE) == 0 && run(WRITE_DELTA, GAPS_ZERO, CHECK_FULL) == 0 &&
		   is_right(m.data) && free_bytes_not(0, 0) == 0,
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
	// The first and the last MiB were dead meanwhile; chunk 20 is 1024 bytes of the last one, as is what it shares
	// of 19, which has none.
	ok(result.mode == WRITE_DELTA && result.written == 2 * MIB + 1024, "%llu bytes written",
	   (unsigned long long)result.written);
	ok(result.fetched < 5 * MIB, "%llu fetched", (unsigned long long)result.fetched);
}

static void test_marker(void) {
	uint8_t digest[HASH] = {1, 2, 3}, other[HASH] = {1, 2, 4};
	bool found = false;

	begin(DISK);
	ok(marker_write(&device, digest, &fault) == 0 && marker_find(&device, digest, &found, &fault) == 0 && found,
	   "a marker is found");
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
	ok(marker_find(&device, digest, &found, &fault) == 0 && !found,
	   "nor on a disk of another size, to which it was copied");
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
	ok(run(WRITE_DELTA, GAPS_DISCARD, CHECK_SAMPLE) == 0 && result.right_before == promised.used,
	   "all of it is right: %s", fault.text);
	device_close(&device);
	unlink(target);
	ok(device_open_file("/dev/null", DISK, 512, &device, &fault) < 0 && fault.code == CODE_DISK,
	   "only a regular file: %s", fault.text);
	free(there);
}

int main(void) {
	start_images();
	test_right();
	test_gaps();
	test_delta();
	test_marker();
	test_real_file();
	end_images();
	return tap_done();
}
