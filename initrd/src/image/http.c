// SPDX-License-Identifier: Apache-2.0
// A stream over HTTP: it goes on where it was cut, at the same byte, on the server that is best then.
#include <errno.h>
#include <string.h>

#include "image/stream.h"
#include "net/socket.h"

#define CONNECT_NS (10 * SECOND)
#define STALL_NS (20 * SECOND) // longest silence on a connection
#define SKIP_MAX ((uint64_t)64 << 20) // a server without ranges is read from the start up to here
#define SKIP_SLICE (64u * 1024)

static int64_t at_most(int64_t wanted, int64_t left) { return wanted < left ? wanted : left > 0 ? left : 1; }

// 408 and 429 pass; so does what the server itself is to blame for.
static bool is_final(unsigned status) { return status < 500 && status != 408 && status != 429; }

// The whole file instead of a range of it: taken at the second time, when no other server is better.
static int take_whole(struct stream *stream, const struct head *head, enum standing *standing, struct fault *fault) {
	*standing = stream->at > SKIP_MAX || !head->has_length ? SERVER_REFUSED : SERVER_RANGELESS;
	if (*standing > stream->choice.standing)
		return fault_set(fault, CODE_NETWORK, "answered 200 to a range%s", head->has_length ? "" : ", and no Content-Length");
	stream->skip = stream->at;
	stream->answer_left = stream->left;
	if (source_learn_size(stream->source, head->length, fault) < 0) {
		*standing = SERVER_REFUSED;
		return -ENETUNREACH;
	}
	if (stream->at + stream->left > head->length)
		return fault_set(fault, CODE_INTEGRITY, "bytes up to %llu are wanted of a file of %llu",
				 (unsigned long long)(stream->at + stream->left), (unsigned long long)head->length);
	return 0;
}

// A range, which must begin where it was asked to and may end earlier.
static int take_range(struct stream *stream, const struct head *head, struct fault *fault) {
	uint64_t size = head->range_last - head->range_from + 1;

	if (!head->has_range || head->range_from != stream->at || size > stream->left)
		return fault_set(fault, CODE_NETWORK, "answered with another range than bytes %llu-%llu", (unsigned long long)stream->at,
				 (unsigned long long)(stream->at + stream->left - 1));
	if (head->has_length && head->length != size)
		return fault_set(fault, CODE_NETWORK, "answered with %llu bytes for a range of %llu", (unsigned long long)head->length,
				 (unsigned long long)size);
	if (!head->has_total)
		return fault_set(fault, CODE_NETWORK, "does not say how long the file is");
	stream->skip = 0;
	stream->answer_left = size;
	return source_learn_size(stream->source, head->total, fault);
}

static int take_head(struct stream *stream, const struct head *head, enum standing *standing, struct fault *fault) {
	if (head->is_encoded && (head->status == 200 || head->status == 206)) {
		*standing = SERVER_REFUSED;
		return fault_set(fault, CODE_NETWORK, "answered with an encoded body");
	}
	if (head->status == 200)
		return take_whole(stream, head, standing, fault);
	*standing = is_final(head->status) ? SERVER_REFUSED : SERVER_GOOD;
	if (head->status == 206)
		return take_range(stream, head, fault);
	return fault_set(fault, CODE_NETWORK, "answered %u", head->status);
}

static int ask(struct stream *stream, int64_t give_up, struct head *head, enum standing *standing, struct fault *fault) {
	int64_t left = give_up - clock_now();
	struct request request = {
		.method = "GET",
		.url = &stream->source->urls->items[stream->choice.server],
		.ca = stream->source->ca,
		.from = stream->at,
		.size = stream->left,
		.wake = stream->wake,
		.connect_ns = at_most(CONNECT_NS, left),
		.answer_ns = at_most(STALL_NS, left),
		.idle_ns = at_most(STALL_NS, stream->source->idle_ns),
	};
	int r = http_send(&stream->http, &request, head, fault);

	if (r == -EKEYREJECTED)
		*standing = SERVER_REFUSED;
	if (r < 0)
		return r;
	r = take_head(stream, head, standing, fault);
	if (r < 0) {
		http_close(&stream->http);
		return fault_prefix(fault, r, "%s: ", request.url->text);
	}
	stream->answering = true;
	stream->proven = false;
	return 0;
}

static int take_bytes(struct stream *stream, void *data, size_t size, size_t *ret_size, struct fault *fault) {
	int r = http_body_into(&stream->http, data, size, ret_size, fault);

	if (r < 0)
		return r;
	if (*ret_size == 0)
		return fault_set(fault, CODE_NETWORK, "the answer ended %llu bytes early", (unsigned long long)(stream->skip + stream->answer_left));
	stream->last_byte = clock_now();
	atomic_fetch_add(&stream->source->received, *ret_size);
	return 0;
}

static int skip(struct stream *stream, struct fault *fault) {
	char nowhere[SKIP_SLICE];

	while (stream->skip > 0) {
		size_t n;
		int r = take_bytes(stream, nowhere, stream->skip < sizeof(nowhere) ? (size_t)stream->skip : sizeof(nowhere), &n, fault);
		if (r < 0)
			return r;
		stream->skip -= n;
	}
	return 0;
}

// The answer was read as far as it is wanted. A connection with more on it is not used again.
static void end_answer(struct stream *stream) {
	stream->answering = false;
	if (!stream->http.answer.body_done)
		http_close(&stream->http);
}

static int read_some(struct stream *stream, void *data, size_t size, size_t *ret_size, struct fault *fault) {
	int r = stream->skip ? skip(stream, fault) : 0;

	if (r == 0)
		r = take_bytes(stream, data, size < stream->answer_left ? size : (size_t)stream->answer_left, ret_size, fault);
	if (r < 0)
		return r;
	stream->at += *ret_size;
	stream->left -= *ret_size;
	stream->answer_left -= *ret_size;
	if (stream->answer_left == 0)
		end_answer(stream);
	return 0;
}

// Chooses a server, waits until it may be asked, asks. 0 also when another try is to be made.
static int start(struct stream *stream, struct fault *fault) {
	int64_t give_up = stream->last_byte + stream->source->idle_ns;
	enum standing standing = SERVER_GOOD;
	struct head head = {0};
	int r = server_choose(stream->source, &stream->choice, fault);

	if (r < 0)
		return r;
	if (clock_now() >= give_up || stream->choice.when >= give_up)
		return server_give_up(stream->source, stream->choice.server, fault);
	if (socket_wait(-1, 0, stream->wake, stream->choice.when, "pause", fault) == -ECANCELED)
		return -ECANCELED;
	r = ask(stream, give_up, &head, &standing, fault);
	if (r == 0 || fault->code != CODE_NETWORK || r == -ECANCELED)
		return r;
	server_failed(stream->source, stream->choice.server, &head, standing, fault);
	return 0;
}

static int go_on(struct stream *stream, void *data, size_t size, size_t *ret_size, struct fault *fault) {
	struct head none = {0};
	int r = read_some(stream, data, size, ret_size, fault);

	if (r == 0 && !stream->proven)
		server_works(stream->source, stream->choice.server);
	stream->proven = r == 0;
	if (r == 0 || fault->code != CODE_NETWORK || r == -ECANCELED)
		return r;
	stream->answering = false;
	http_close(&stream->http);
	fault_prefix(fault, r, "%s: ", stream->source->urls->items[stream->choice.server].text);
	server_failed(stream->source, stream->choice.server, &none, SERVER_GOOD, fault);
	return 0;
}

int http_read_at(struct stream *stream, void *data, size_t size, struct fault *fault) {
	stream->last_byte = clock_now(); // the time before this call is the caller's
	for (char *to = data; size > 0;) {
		size_t n = 0;
		int r = stream->answering ? go_on(stream, to, size, &n, fault) : start(stream, fault);
		if (r < 0)
			return r;
		to += n;
		size -= n;
	}
	return 0;
}
