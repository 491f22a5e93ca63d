// SPDX-License-Identifier: Apache-2.0
// A sink that uploads. The server may refuse before the first byte (Expect: 100-continue), during the upload, or at its
// end.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "net/http.h"
#include "pack/sink.h"

#define CONNECT_NS (10 * SECOND)
#define EXPECT_NS (5 * SECOND)	 // a server without 100-continue sends nothing
#define SEND_NS (60 * SECOND)	 // longest time without progress
#define ANSWER_NS (300 * SECOND) // the server may sync the file first
#define LATE_NS SECOND		 // for a response on a connection that accepts no more data

#define PIECE (256u * 1024) // bytes of one HTTP chunk
#define BEFORE 10u	    // room for the size and CRLF of a chunk
#define AFTER 2u

struct upload {
	struct sink base;
	const struct url *url;
	size_t fill;
	char piece[BEFORE + PIECE + AFTER];
	struct http http;
};

static int refused(const struct upload *upload, struct fault *fault) {
	static const struct {
		unsigned status;
		enum exit_code code;
		const char *meaning;
	} known[] = {
		{401, CODE_NETWORK, "token refused"},
		{403, CODE_NETWORK, "this node may not upload to that URL"},
		{404, CODE_NETWORK, "this URL accepts no uploads"},
		{405, CODE_NETWORK, "the server accepts no uploads"},
		{409, CODE_NETWORK, "the directory on the server is missing"},
		{411, CODE_NETWORK, "the server requires the length in advance"},
		{413, CODE_NETWORK, "larger than the server accepts"},
		{507, CODE_FAILED, "the server has no space left"},
	};
	unsigned status = upload->http.answer.head.status;

	for (size_t i = 0; i < ELEMENTS(known); i++)
		if (known[i].status == status)
			return fault_set(fault, known[i].code, "%s: %s (%u)", upload->url->text, known[i].meaning,
					 status);
	return fault_set(fault, CODE_NETWORK, "%s: the server responded with status %u", upload->url->text, status);
}

// Checks for an early response: it is a refusal, or was sent before the whole file arrived.
static int look(struct upload *upload, int64_t deadline, struct fault *fault) {
	int r = http_look(&upload->http, deadline, fault);

	if (r < 0)
		return fault_prefix(fault, r, "%s: ", upload->url->text);
	return upload->http.answer.head_done ? refused(upload, fault) : 0;
}

static int send(struct upload *upload, const void *data, size_t size, struct fault *fault) {
	struct fault late;
	int r = look(upload, clock_now(), fault);

	if (r < 0)
		return r;
	r = http_more(&upload->http, data, size, fault);
	if (r == 0)
		return 0;
	fault_prefix(fault, r, "%s: ", upload->url->text);
	if (look(upload, clock_now() + LATE_NS, &late) < 0 && upload->http.answer.head_done)
		*fault = late;
	return r;
}

static int flush_piece(struct upload *upload, struct fault *fault) {
	char size[BEFORE + 1], *data = upload->piece + BEFORE;
	int n = snprintf(size, sizeof(size), "%zx\r\n", upload->fill), r;

	if (upload->fill == 0)
		return 0; // an empty chunk would end the body
	memcpy(data - n, size, (size_t)n);
	memcpy(data + upload->fill, "\r\n", AFTER);
	r = send(upload, data - n, (size_t)n + upload->fill + AFTER, fault);
	upload->fill = 0;
	return r;
}

static int upload_write(struct sink *base, const void *data, size_t size, struct fault *fault) {
	struct upload *upload = (struct upload *)base;
	int r = 0;

	for (const char *from = data; r == 0 && size > 0;) {
		size_t n = PIECE - upload->fill < size ? PIECE - upload->fill : size;
		memcpy(upload->piece + BEFORE + upload->fill, from, n);
		upload->fill += n;
		from += n;
		size -= n;
		if (upload->fill == PIECE)
			r = flush_piece(upload, fault);
	}
	return r;
}

static int wait_answer(struct upload *upload, struct fault *fault) {
	int64_t deadline = clock_now() + ANSWER_NS;
	int r = 0;

	while (r == 0 && !upload->http.answer.head_done && clock_now() < deadline)
		r = http_look(&upload->http, deadline, fault);
	if (r < 0)
		return fault_prefix(fault, r, "%s: ", upload->url->text);
	if (!upload->http.answer.head_done)
		return fault_set(fault, CODE_NETWORK, "%s: no response within %llu seconds", upload->url->text,
				 (unsigned long long)(ANSWER_NS / SECOND));
	return 0;
}

static int upload_commit(struct sink *base, struct fault *fault) {
	struct upload *upload = (struct upload *)base;
	unsigned status;
	int r = flush_piece(upload, fault);

	if (r == 0)
		r = send(upload, "0\r\n\r\n", 5, fault);
	if (r == 0)
		r = wait_answer(upload, fault);
	if (r < 0)
		return r;
	status = upload->http.answer.head.status;
	base->location = upload->http.answer.head.location;
	return status == 200 || status == 201 || status == 204 ? 0 : refused(upload, fault);
}

static void drop(struct upload **upload) {
	if (*upload)
		http_close(&(*upload)->http);
	free(*upload);
}

static void upload_close(struct sink *base) {
	struct upload *upload = (struct upload *)base;
	drop(&upload);
}

static int check_url(const struct url *url, const char *token, struct fault *fault) {
	if (url->scheme == SCHEME_FILE)
		return fault_set(fault, CODE_USAGE, "upload: %s must be http or https", url->text);
	if (token && url->scheme != SCHEME_HTTPS && !url_is_loopback(url))
		return fault_set(fault, CODE_USAGE, "upload: %s would send the token unencrypted: use https",
				 url->text);
	return 0;
}

int sink_open_upload(const struct url *url, const char *ca, const char *token, struct sink **ret, struct fault *fault) {
	static const struct sink_ops ops = {upload_write, upload_commit, upload_close};
	struct request request = {
		.method = "PUT",
		.url = url,
		.ca = ca,
		.token = token,
		.is_chunked = true,
		.connect_ns = CONNECT_NS,
		.idle_ns = SEND_NS,
	};
	cleanup_with(drop) struct upload *upload = NULL;
	int r = check_url(url, token, fault);

	if (r < 0)
		return r;
	if (!(upload = calloc(1, sizeof(*upload))))
		return fault_errno(fault, CODE_FAILED, ENOMEM, "upload");
	upload->base.ops = &ops;
	upload->url = url;
	r = http_begin(&upload->http, &request, fault);
	if (r == 0)
		r = look(upload, clock_now() + EXPECT_NS, fault);
	if (r < 0)
		return r;
	*ret = &steal_pointer(&upload)->base;
	return 0;
}
