// SPDX-License-Identifier: Apache-2.0
// tool_fetch size|ranges|feed|stop URLS OUT [SEED [STREAMS [IDLE]]]: an image file through a source's streams, or a
// feed, copied to the same places of OUT ("-": nowhere). Frames are made up, of sizes that follow from SEED; with an
// odd SEED about a third of them is wanted. Prints one line "at size" for each piece, then "received BYTES of BYTES
// wanted BYTES cpu SECONDS".
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "source/feed.h"
#include "source/stream.h"

#define MEMORY ((size_t)24 << 20)

static uint32_t state;
static int out = -1;
static uint64_t copied;

static uint32_t any(uint32_t below) {
	state = state * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)state * below >> 32);
}

static void keep(const void *data, size_t size, uint64_t at) {
	copied += size;
	if (out >= 0 && pwrite(out, data, size, (off_t)at) != (ssize_t)size)
		abort();
	if (out >= 0)
		printf("%" PRIu64 " %zu\n", at, size);
}

// Whole file in ranges of any size; some are given up half-way and asked for again.
static int copy_ranges(struct source *source, uint64_t size, struct fault *fault) {
	cleanup_with(stream_close) struct stream *stream = NULL;
	cleanup_free uint8_t *data = malloc(1 << 20);
	int r = stream_open(source, &stream, fault);

	for (uint64_t at = 0; r == 0 && at < size;) {
		uint64_t range = 1 + any(5 << 20), left;
		range = left = range < size - at ? range : size - at;
		stream_range(stream, at, range);
		while (r == 0 && left > 0 && (left == range || any(16) > 0)) {
			size_t n = 1 + any(1 << 20);
			n = n < left ? n : (size_t)left;
			r = stream_read(stream, data, n, fault);
			if (r == 0)
				keep(data, n, at);
			at += n;
			left -= n;
		}
	}
	return r;
}

static struct index made_up(uint64_t size, bool some, uint8_t **ret_wanted) {
	uint32_t room = (uint32_t)(size / 1000 + 2), n = 0;
	struct index index = {.bytes = DISK_MAX, .sector = 512, .chunks = calloc(room, sizeof(struct chunk))};
	uint8_t *wanted = calloc(room, 1);

	for (uint64_t at = 0; at < size && n < room; n++) {
		struct chunk *chunk = &index.chunks[n];
		uint32_t frame = 1000 + any(any(8) ? 400000 : FRAME_MAX - 1000);
		*chunk = (struct chunk){
			.offset = n * CHUNK, .at = at, .frame = size - at < frame ? (uint32_t)(size - at) : frame};
		at += chunk->frame;
		if (!some || any(3) == 0)
			wanted[n / 8] |= (uint8_t)(1 << n % 8);
	}
	index.chunk_count = n;
	*ret_wanted = wanted;
	return index;
}

static void *stop_soon(void *feed) {
	clock_wait_until(clock_now() + 200 * MILLISECOND);
	feed_stop(feed);
	return NULL;
}

static int copy_feed(struct source *source, uint64_t size, bool some, unsigned streams, bool stop,
		     struct fault *fault) {
	cleanup_free uint8_t *wanted = NULL;
	struct index index = made_up(size, some, &wanted);
	cleanup_free struct chunk *chunks = index.chunks;
	cleanup_with(feed_close) struct feed *feed = NULL;
	struct parcel *parcel = NULL;
	pthread_t thread;
	int r = feed_open_source(source, &index, some ? wanted : NULL, streams, MEMORY, &feed, fault);

	if (r == 0 && stop)
		pthread_create(&thread, NULL, stop_soon, feed);
	while (r == 0 && (r = feed_next(feed, &parcel, fault)) == 0 && parcel) {
		keep(parcel->frame, parcel->chunk->frame, parcel->chunk->at);
		feed_return(feed, parcel);
	}
	if (stop)
		pthread_join(thread, NULL);
	return r;
}

static const char *word(int count, char **words, int i, const char *otherwise) {
	return i < count ? words[i] : otherwise;
}

int main(int count, char **words) {
	cleanup_with(urls_free) struct urls urls = {0};
	cleanup_with(source_close) struct source *source = NULL;
	struct fault fault;
	uint64_t size = 0;
	unsigned seed, streams;
	int r;

	if (count < 4)
		return CODE_USAGE;
	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, NULL, _IOLBF, 0); // a test follows what comes
	seed = state = (unsigned)atoi(word(count, words, 4, "0"));
	streams = (unsigned)atoi(word(count, words, 5, "0"));
	if (strcmp(words[3], "-"))
		out = open(words[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	r = urls_parse(words[2], &urls, &fault);
	if (r == 0)
		r = source_open(&urls, getenv("SLED_CA"), atoi(word(count, words, 6, "20")) * SECOND, &source, &fault);
	if (r == 0)
		r = stream_file_size(source, &size, &fault);
	if (r == 0 && !strcmp(words[1], "ranges"))
		r = copy_ranges(source, size, &fault);
	else if (r == 0 && strcmp(words[1], "size"))
		r = copy_feed(source, size, seed % 2, streams, !strcmp(words[1], "stop"), &fault);
	if (source)
		printf("received %" PRIu64 " of %" PRIu64 " wanted %" PRIu64 " cpu %.3f\n", source_received(source),
		       size, copied, (double)clock() / CLOCKS_PER_SEC);
	return r < 0 ? fault_print(&fault, "fetch") : CODE_DONE;
}
