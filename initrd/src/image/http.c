// SPDX-License-Identifier: Apache-2.0
// The source that goes on where it was cut: next server, same byte.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "image/source.h"
#include "net/http.h"

#define CONNECT_NS (10 * SECOND)
#define STALL_NS (30 * SECOND) // longest silence on a connection
#define PAUSE_MAX (10 * SECOND)
#define RETRY_AFTER_MAX 60u // seconds; a server that asks for more is asked again sooner

struct http_source {
	struct source base;
	const struct urls *urls;
	const char *ca;
	int64_t idle_ns, last_byte; // when a byte last came
	size_t at;		// URL in use
	size_t gone;	// answers in a row that another try will not change: no such file, a wrong certificate
	struct backoff backoff;
	bool streaming;	   // an answer is being read
	uint64_t offset; // bytes passed on
	uint64_t to_skip;  // bytes of this answer before `offset`: the server does not do ranges
	bool has_total, ended;
	uint64_t total;
	const char *data; // rest of the slice
	size_t size;
	struct http http;
};

// Learns the file's size, or refuses an answer that speaks of another file than before.
static int take_total(struct http_source *source, uint64_t total, struct fault *fault) {
	if (source->has_total && source->total != total)
		return fault_set(fault, CODE_NETWORK, "%s: the file has %llu bytes here, %llu before",
				 source->urls->items[source->at].text, (unsigned long long)total,
				 (unsigned long long)source->total);
	source->has_total = true;
	source->total = total;
	return 0;
}

static int take_head(struct http_source *source, const struct head *head, struct fault *fault) {
	const char *url = source->urls->items[source->at].text;

	if (head->status == 200) {
		source->to_skip = source->offset;
		return head->has_length ? take_total(source, head->length, fault) : 0;
	}
	if (head->status == 206 && head->has_range && head->range_from == source->offset) {
		source->to_skip = 0;
		return head->has_total ? take_total(source, head->total, fault) : 0;
	}
	source->gone += head->status >= 400 && head->status < 500 && head->status != 408 && head->status != 429;
	return fault_set(fault, CODE_NETWORK, "%s: the server answered %u", url, head->status);
}

static int start(struct http_source *source, struct head *head, struct fault *fault) {
	struct request request = {
		.method = "GET",
		.url = &source->urls->items[source->at],
		.ca = source->ca,
		.from = source->offset,
		.connect_ns = CONNECT_NS,
		.answer_ns = STALL_NS,
		.idle_ns = STALL_NS,
	};
	int r;

	http_close(&source->http);
	r = http_send(&source->http, &request, head, fault);
	if (r == 0)
		r = take_head(source, head, fault);
	source->streaming = r == 0;
	return r;
}

// Next slice of new bytes; size 0 when the answer is complete.
static int next_slice(struct http_source *source, struct fault *fault) {
	do {
		size_t skip;
		int r = http_body(&source->http, &source->data, &source->size, fault);
		if (r < 0)
			return fault_prefix(fault, r, "%s: ", source->urls->items[source->at].text);
		if (source->size == 0)
			break;
		source->last_byte = clock_now();
		skip = source->size < source->to_skip ? source->size : (size_t)source->to_skip;
		source->data += skip;
		source->size -= skip;
		source->to_skip -= skip;
	} while (source->size == 0);
	if (source->size == 0 && source->has_total && source->offset != source->total)
		return fault_set(fault, CODE_NETWORK, "%s: the answer ended early", source->urls->items[source->at].text);
	source->ended = source->size == 0;
	return 0;
}

// After a failure: the next server, after a pause. Gives up at the deadline, or when no server has the file.
static int retry(struct http_source *source, const struct head *head, int error, struct fault *fault) {
	int64_t now = clock_now(), pause = backoff_next(&source->backoff), give_up = source->last_byte + source->idle_ns;

	source->streaming = false;
	source->size = 0;
	source->at = (source->at + 1) % source->urls->count;
	source->gone += error == -EKEYREJECTED;
	if (fault->code != CODE_NETWORK || source->gone >= source->urls->count)
		return error;
	if (head->has_retry && head->retry_after * SECOND > pause)
		pause = (head->retry_after < RETRY_AFTER_MAX ? head->retry_after : RETRY_AFTER_MAX) * SECOND;
	if (now + pause >= give_up)
		return fault_prefix(fault, error, "no byte for %llu seconds: ", (unsigned long long)(source->idle_ns / SECOND));
	clock_wait_until(now + pause);
	return 0;
}

static int http_source_read(struct source *base, void *data, size_t size, size_t *ret_size, struct fault *fault) {
	struct http_source *source = (struct http_source *)base;

	while (source->size == 0 && !source->ended) {
		struct head head = {0};
		int r = source->streaming ? 0 : start(source, &head, fault);
		if (r == 0)
			r = next_slice(source, fault);
		if (r == 0)
			source->gone = 0;
		else if ((r = retry(source, &head, r, fault)) < 0)
			return r;
	}
	if (size > source->size)
		size = source->size;
	if (size > 0) {
		memcpy(data, source->data, size);
		source->backoff.next = 0;
	}
	source->data += size;
	source->size -= size;
	source->offset += size;
	*ret_size = size;
	return 0;
}

static void http_source_close(struct source *base) {
	struct http_source *source = (struct http_source *)base;
	http_close(&source->http);
	free(source);
}

int source_open_http(const struct urls *urls, const char *ca, int64_t idle_ns, struct source **ret, struct fault *fault) {
	static const struct source_ops ops = {http_source_read, http_source_close};
	struct http_source *source = calloc(1, sizeof(*source));

	if (!source)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image");
	source->base.ops = &ops;
	source->urls = urls;
	source->ca = ca;
	source->idle_ns = idle_ns;
	source->last_byte = clock_now();
	source->backoff.max = PAUSE_MAX;
	*ret = &source->base;
	return 0;
}
