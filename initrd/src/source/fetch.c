// SPDX-License-Identifier: Apache-2.0
#include "source/fetch.h"

#include <errno.h>
#include <string.h>

#include "net/socket.h"

#define CONNECT_NS (10 * SECOND)
#define STALL_NS (20 * SECOND)	      // longest silence on a connection
#define SKIP_MAX ((uint64_t)64 << 20) // a server without ranges is read from the start at most up to here
#define SKIP_SLICE (64u * 1024)

static int64_t at_most(int64_t wanted, int64_t left) { return wanted < left ? wanted : left > 0 ? left : 1; }

// Temporary: 408, 429, and errors of the server itself.
static bool is_final(unsigned status) { return status < 500 && status != 408 && status != 429; }

// The server sent the whole file instead of a range: accepted at the second attempt, if no other server is better.
static int take_whole(struct fetch *fetch, const struct head *head, enum standing *standing, struct fault *fault) {
	*standing = fetch->at > SKIP_MAX || !head->has_length ? SERVER_REFUSED : SERVER_RANGELESS;
	if (*standing > fetch->choice.standing)
		return fault_set(fault, CODE_NETWORK, "responded with status 200 to a range request%s",
				 head->has_length ? "" : ", without Content-Length");
	fetch->skip = fetch->at;
	fetch->answer_left = fetch->left;
	if (source_learn_size(fetch->source, head->length, fault) < 0) {
		*standing = SERVER_REFUSED;
		return -ENETUNREACH;
	}
	if (fetch->at + fetch->left > head->length)
		return fault_set(fault, CODE_INTEGRITY, "bytes up to %llu are needed, but the file has %llu bytes",
				 (unsigned long long)(fetch->at + fetch->left), (unsigned long long)head->length);
	return 0;
}

// A range must begin at the requested byte and may end earlier.
static int take_range(struct fetch *fetch, const struct head *head, struct fault *fault) {
	uint64_t size = head->range_last - head->range_from + 1;

	if (!head->has_range || head->range_from != fetch->at || size > fetch->left)
		return fault_set(fault, CODE_NETWORK, "responded with another range than bytes %llu-%llu",
				 (unsigned long long)fetch->at, (unsigned long long)(fetch->at + fetch->left - 1));
	if (head->has_length && head->length != size)
		return fault_set(fault, CODE_NETWORK, "responded with %llu bytes for a range of %llu",
				 (unsigned long long)head->length, (unsigned long long)size);
	if (!head->has_total)
		return fault_set(fault, CODE_NETWORK, "did not send the size of the file");
	fetch->skip = 0;
	fetch->answer_left = size;
	return source_learn_size(fetch->source, head->total, fault);
}

static int take_head(struct fetch *fetch, const struct head *head, enum standing *standing, struct fault *fault) {
	if (head->is_encoded && (head->status == 200 || head->status == 206)) {
		*standing = SERVER_REFUSED;
		return fault_set(fault, CODE_NETWORK, "responded with an encoded body (Content-Encoding)");
	}
	if (head->status == 200)
		return take_whole(fetch, head, standing, fault);
	*standing = is_final(head->status) ? SERVER_REFUSED : SERVER_GOOD;
	if (head->status == 206)
		return take_range(fetch, head, fault);
	return fault_set(fault, CODE_NETWORK, "responded with status %u", head->status);
}

static int ask(struct fetch *fetch, int64_t give_up, struct head *head, enum standing *standing, struct fault *fault) {
	const struct url *url = &fetch->source->urls->items[fetch->choice.server];
	int64_t left = give_up - clock_now();
	char token[TOKEN_MAX + 1];
	struct request request = {
		.method = "GET",
		.url = url,
		.ca = fetch->source->ca,
		.token = token,
		.from = fetch->at,
		.size = fetch->left,
		.wake = fetch->wake,
		.connect_ns = at_most(CONNECT_NS, left),
		.answer_ns = at_most(STALL_NS, left),
		.idle_ns = at_most(STALL_NS, fetch->source->idle_ns),
	};
	int r = source_token(fetch->source, url, token, fault);

	if (!*token)
		request.token = NULL;
	if (r == 0)
		r = http_send(&fetch->http, &request, head, fault);
	if (r == -EKEYREJECTED)
		*standing = SERVER_REFUSED;
	if (r < 0)
		return r;
	r = take_head(fetch, head, standing, fault);
	if (r < 0) {
		http_close(&fetch->http);
		return fault_prefix(fault, r, "%s: ", url->text);
	}
	fetch->answering = true;
	fetch->proven = false;
	return 0;
}

static int take_bytes(struct fetch *fetch, void *data, size_t size, size_t *ret_size, struct fault *fault) {
	int r = http_body_into(&fetch->http, data, size, ret_size, fault);

	if (r < 0)
		return r;
	if (*ret_size == 0)
		return fault_set(fault, CODE_NETWORK, "the response ended %llu bytes early",
				 (unsigned long long)(fetch->skip + fetch->answer_left));
	fetch->last_byte = clock_now();
	atomic_fetch_add(&fetch->source->received, *ret_size);
	return 0;
}

static int skip(struct fetch *fetch, struct fault *fault) {
	char nowhere[SKIP_SLICE];

	while (fetch->skip > 0) {
		size_t n;
		int r = take_bytes(fetch, nowhere,
				   fetch->skip < sizeof(nowhere) ? (size_t)fetch->skip : sizeof(nowhere), &n, fault);
		if (r < 0)
			return r;
		fetch->skip -= n;
	}
	return 0;
}

// The needed part of the response was read. A connection with unread bytes is not reused.
static void end_answer(struct fetch *fetch) {
	fetch->answering = false;
	if (!fetch->http.answer.body_done)
		http_close(&fetch->http);
}

static int read_some(struct fetch *fetch, void *data, size_t size, size_t *ret_size, struct fault *fault) {
	int r = fetch->skip ? skip(fetch, fault) : 0;

	if (r == 0)
		r = take_bytes(fetch, data, size < fetch->answer_left ? size : (size_t)fetch->answer_left, ret_size,
			       fault);
	if (r < 0)
		return r;
	fetch->at += *ret_size;
	fetch->left -= *ret_size;
	fetch->answer_left -= *ret_size;
	if (fetch->answer_left == 0)
		end_answer(fetch);
	return 0;
}

// Chooses a server, waits until it may be used, and sends the request. 0 too if another attempt follows.
static int start(struct fetch *fetch, struct fault *fault) {
	int64_t give_up = fetch->last_byte + fetch->source->idle_ns;
	enum standing standing = SERVER_GOOD;
	struct head head = {0};
	int r = server_choose(&fetch->source->servers, &fetch->choice, fault);

	if (r < 0)
		return r;
	if (clock_now() >= give_up || fetch->choice.when >= give_up)
		return server_give_up(&fetch->source->servers, fetch->choice.server, fetch->source->idle_ns, fault);
	if (socket_wait(-1, 0, fetch->wake, fetch->choice.when, "pause", fault) == -ECANCELED)
		return -ECANCELED;
	r = ask(fetch, give_up, &head, &standing, fault);
	if (r == 0 || fault->code != CODE_NETWORK || r == -ECANCELED)
		return r;
	server_failed(&fetch->source->servers, fetch->choice.server, &head, standing, fault);
	return 0;
}

static int go_on(struct fetch *fetch, void *data, size_t size, size_t *ret_size, struct fault *fault) {
	struct head none = {0};
	int r = read_some(fetch, data, size, ret_size, fault);

	if (r == 0 && !fetch->proven)
		server_works(&fetch->source->servers, fetch->choice.server);
	fetch->proven = r == 0;
	if (r == 0 || fault->code != CODE_NETWORK || r == -ECANCELED)
		return r;
	fetch->answering = false;
	http_close(&fetch->http);
	fault_prefix(fault, r, "%s: ", fetch->source->urls->items[fetch->choice.server].text);
	server_failed(&fetch->source->servers, fetch->choice.server, &none, SERVER_GOOD, fault);
	return 0;
}

void fetch_drop(struct fetch *fetch) {
	if (fetch->answering)
		http_close(&fetch->http);
	fetch->answering = false;
}

int fetch_read(struct fetch *fetch, void *data, size_t size, struct fault *fault) {
	fetch->last_byte = clock_now(); // the time between calls does not count
	for (char *to = data; size > 0;) {
		size_t n = 0;
		int r = fetch->answering ? go_on(fetch, to, size, &n, fault) : start(fetch, fault);
		if (r < 0)
			return r;
		to += n;
		size -= n;
	}
	return 0;
}
