// SPDX-License-Identifier: Apache-2.0
// Image to disk: disks that fail, lie and vanish; files that are damaged; writes that are interrupted and done again.
#include "write/write.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"
#include "written_image.h"

static void test_faults(void) {
	static const struct {
		int error;
		const char *text;
	} faults[] = {
		{EIO, "Input/output"}, {ENOSPC, "No space"}, {ENODEV, "No such device"}, {ENXIO, "No such device"}};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		begin(DISK);
		m.fail_at = 12 * MIB + 5;
		m.error = faults[i].error;
		ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_FULL) < 0 && fault.code == CODE_FAILED, "code 1: %s",
		   fault.text);
		ok(strstr(fault.text, "12582912") && strstr(fault.text, "memory") && strstr(fault.text, faults[i].text),
		   "which names disk, place and reason");
		ok(dead() && marked(), "nothing starts from the disk; it can be gone on with");
		m.fail_at = UINT64_MAX;
		ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_FULL) == 0 && is_right(m.data) &&
			   strstr(result.why, "interrupted") && result.mode == WRITE_DELTA,
		   "which is done: %s", result.why);
	}
	begin(DISK);
	m.fail_at = 0;
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_FULL) < 0 && fault.code == CODE_FAILED,
	   "the first MiB cannot be written: %s", fault.text);
	begin(19 * MIB);
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_FULL) < 0 && fault.code == CODE_DISK && untouched(), "too small: %s",
	   fault.text);
	begin(LARGER);
	device.sector = 4096;
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_FULL) < 0 && fault.code == CODE_UNSUPPORTED && untouched(),
	   "another sector: %s", fault.text);
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
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_FULL) < 0 && fault.code == CODE_INTEGRITY &&
		   strstr(fault.text, "11534336"),
	   "code 5: %s", fault.text);
	ok(dead() && marked(), "nothing starts from the disk");
	stick(11 * MIB + 17);
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_SAMPLE) < 0 && fault.code == CODE_INTEGRITY,
	   "a sample of a small disk is all of it");
	stick(11 * MIB + 17);
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_NONE) == 0 && !is_right(m.data), "nobody looks, nobody sees");
	stick(8000);
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_SAMPLE) < 0 && fault.code == CODE_INTEGRITY && dead() && marked(),
	   "in the first MiB: %s", fault.text);
	stick(100);
	ok(run(WRITE_FULL, GAPS_DISCARD, CHECK_SAMPLE) < 0 && fault.code == CODE_INTEGRITY && all(0, 512, 1536),
	   "in its first granule: %s", fault.text);
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
			in_gap &= place < promised.chunks[c].at ||
				  place >= promised.chunks[c].at + promised.chunks[c].frame;
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
	ok(survived == 0 && refused > 180, "200 flipped bits: %u refused with code 5, %u that matter were not", refused,
	   survived);
	ok(written == 0, "of the damaged chunk nothing was written");
	ok(alive == 0, "and the disk is untouched or dead");
}

static void test_file_ends(void) {
	struct stat st;

	begin(DISK);
	if (stat(path, &st) < 0 || truncate(path, st.st_size / 2) < 0)
		abort();
	ok(run(WRITE_FULL, GAPS_KEEP, CHECK_NONE) < 0 && fault.code == CODE_INTEGRITY && untouched(), "half a file: %s",
	   fault.text);
	unlink(path);
	ok(run(WRITE_FULL, GAPS_KEEP, CHECK_NONE) < 0 && untouched(), "none: %s", fault.text);
}

int main(void) {
	start_images();
	test_faults();
	test_check();
	test_cuts();
	test_flips();
	test_file_ends();
	end_images();
	return tap_done();
}
