// SPDX-License-Identifier: Apache-2.0
// How wanted chunks become ranges.
#include "source/range.h"
#include "tap.h"

#define COUNT 400u

static struct chunk chunks[COUNT];
static struct index image = {.chunk_count = COUNT, .chunks = chunks};
static uint8_t wanted[COUNT / 8];

static void lay_out(uint32_t frame) {
	for (uint32_t i = 0; i < COUNT; i++)
		chunks[i] = (struct chunk){.at = (uint64_t)i * frame, .frame = frame};
	memset(wanted, 0, sizeof(wanted));
}

static void want(uint32_t i) { wanted[i / 8] |= (uint8_t)(1 << i % 8); }

// Walks over all ranges: each wanted chunk is in one, in order, none is longer than RANGE_MAX. Returns their number.
static unsigned walk(const uint8_t *bits) {
	struct range range = {0, 0};
	unsigned ranges = 0, in = 0, all = 0, wrong = 0;

	for (uint32_t i = 0; i < COUNT; i++)
		all += is_wanted(bits, i);
	for (uint32_t from = 0; range_next(&image, bits, from, &range); from = range.end, ranges++) {
		wrong += range.first < from || range.end <= range.first || !is_wanted(bits, range.first) ||
			 !is_wanted(bits, range.end - 1);
		wrong += frame_end(&chunks[range.end - 1]) - chunks[range.first].at > RANGE_MAX;
		for (uint32_t i = range.first; i < range.end; i++)
			in += is_wanted(bits, i);
	}
	ok(wrong == 0 && in == all, "%u ranges hold %u wanted chunks, each once", ranges, in);
	return ranges;
}

int main(void) {
	struct range range;

	lay_out(FRAME_MAX);
	ok(walk(NULL) == (COUNT + 6) / 7, "of the largest frames, seven make a range");
	lay_out(1000);
	ok(walk(NULL) == 1, "small ones are one range");
	ok(!range_next(&image, wanted, 0, &range) && walk(wanted) == 0, "nothing is wanted: no range");
	ok(!range_next(&image, NULL, COUNT, &range), "nothing comes after the last chunk");
	want(3), want(3 + 132);
	ok(walk(wanted) == 1, "a gap of 131,000 bytes is stepped over");
	want(3 + 132 + 133);
	ok(walk(wanted) == 2, "one of 132,000 is not");
	lay_out(100000);
	for (uint32_t i = 0; i < COUNT; i += 2)
		want(i);
	ok(walk(wanted) == 5, "gaps count for a range's length");
	return tap_done();
}
