// SPDX-License-Identifier: Apache-2.0
#include "write/choose.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "source/ask_sender.h"
#include "source/stream.h"
#include "write/cost.h"
#include "write/delta.h"

#define SAMPLE_MIN 32u // chunks
#define SAMPLE_MAX 128u
// Between the two, one chunk of this many: too few samples say little about the rates of a busy machine.
#define SAMPLE_SHARE 16u
// Pieces that are fetched to measure; the first one is not timed: it includes the latency of the request.
#define PIECE (256u << 10)
#define FETCH_MAX (4u << 20)
#define FETCH_TIME (SECOND / 2)
#define DECODE_RATE UINT64_C(850000000) // of one core, zstd and SHA-256: an estimate that seldom decides

static uint64_t rate_of(uint64_t bytes, int64_t took) {
	return took > 0 ? (uint64_t)((double)bytes * (double)SECOND / (double)took) : UINT64_MAX >> 1;
}

static uint64_t frames_size(const struct index *index) {
	uint64_t sum = 0;

	for (uint32_t i = 0; i < index->chunk_count; i++)
		sum += index->chunks[i].frame;
	return sum;
}

// Bytes per second of one stream from the middle of the file: what the requests for the index have cached is elsewhere.
static int measure_source(struct source *source, const struct index *index, uint64_t *ret, struct fault *fault) {
	cleanup_with(stream_close) struct stream *stream = NULL;
	cleanup_free uint8_t *piece = malloc(PIECE);
	uint64_t from = index->chunks[index->chunk_count / 2].at, left = index_end(index) - from,
		 size = left < FETCH_MAX ? left : FETCH_MAX;
	uint64_t timed = 0;
	int64_t begin = clock_now(), first = begin;
	int r = piece ? stream_open(source, &stream, fault)
		      : fault_errno(fault, CODE_FAILED, ENOMEM, "measuring the source");

	if (r == 0)
		stream_range(stream, from, size);
	for (uint64_t n; r == 0 && size > 0 && clock_now() - begin < FETCH_TIME; size -= n) {
		n = size < PIECE ? size : PIECE;
		r = stream_read(stream, piece, n, fault);
		if (first == begin && size > n)
			first = clock_now();
		else
			timed += n;
	}
	if (r == 0)
		*ret = rate_of(timed, clock_now() - first);
	return r;
}

static uint32_t sample_size(const struct index *index) {
	uint32_t n = index->chunk_count / SAMPLE_SHARE;
	return n < SAMPLE_MIN ? SAMPLE_MIN : n > SAMPLE_MAX ? SAMPLE_MAX : n;
}

static uint64_t cores(void) {
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (uint64_t)n : 1;
}

int choose_write_mode(struct source *source, struct device *device, const struct image *image,
		      struct multicast_address *address, struct chosen *ret, struct fault *fault) {
	const struct index *index = &image->index;
	struct cost cost = {.fetch = frames_size(index), .used = index->used, .decode = cores() * DECODE_RATE};
	struct delta sample;
	struct chosen chosen;
	int r = delta_sample(device, index, sample_size(index), (uint64_t)clock_now(), &sample, fault);

	if (r < 0)
		return r;
	cost.sampled = sample.looked_at;
	cost.differ = sample.differ;
	cost.read = rate_of(sample.read, sample.took);
	if (sample.differ < sample.looked_at && address)
		cost.network = ask_sender_rate(address, image->trailer.digest);
	if (sample.differ < sample.looked_at && cost.network == 0)
		r = measure_source(source, index, &cost.network, fault);
	if (r < 0)
		return r;
	chosen.mode = cost_is_delta(&cost, chosen.why, sizeof(chosen.why)) ? WRITE_DELTA : WRITE_FULL;
	*ret = chosen;
	return 0;
}
