// SPDX-License-Identifier: Apache-2.0
#include "net/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"

#define SEND_NS (5 * SECOND) // a busy server may be slow at both, unlike at a SYN

static bool leads_there(const struct http *http, const struct url *url) {
	return http->conn && http->port == url->port && http->scheme == url->scheme && !strcmp(http->host, url->host);
}

static int open_to(struct http *http, const struct request *request, int64_t deadline, struct fault *fault) {
	const struct url *url = request->url;
	int64_t connected = clock_now() + request->connect_ns;
	int r;

	http_close(http);
	if (strlen(url->host) >= sizeof(http->host))
		return fault_set(fault, CODE_USAGE, "%s: the name is too long", url->text);
	r = conn_open(url, request->ca, request->wake, connected, deadline, &http->conn, fault);
	if (r < 0)
		return r;
	memcpy(http->host, url->host, strlen(url->host) + 1);
	http->port = url->port;
	http->scheme = url->scheme;
	return 0;
}

static void write_head(const struct request *request, struct text *text) {
	const struct url *url = request->url;
	bool brackets = strchr(url->host, ':') != NULL;
	bool usual = url->port == (url->scheme == SCHEME_HTTPS ? 443 : 80);

	text_addf(text, "%s %s HTTP/1.1\r\nHost: %s%s%s", request->method, url->path, brackets ? "[" : "", url->host,
		  brackets ? "]" : "");
	if (!usual)
		text_addf(text, ":%u", url->port);
	text_adds(text, "\r\nUser-Agent: sledc\r\nAccept-Encoding: identity\r\n");
	if (request->token)
		text_addf(text, "Authorization: Bearer %s\r\n", request->token);
	if (request->size > 0)
		text_addf(text, "Range: bytes=%llu-%llu\r\n", (unsigned long long)request->from,
			  (unsigned long long)(request->from + request->size - 1));
	if (request->is_chunked)
		text_adds(text, "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n");
	if (request->body)
		text_addf(text, "Content-Type: text/plain\r\nContent-Length: %zu\r\n", request->body_size);
	text_adds(text, "\r\n");
	if (request->body)
		text_add(text, request->body, request->body_size);
}

// Reads more if the buffer is empty, then feeds the parser.
static int advance(struct http *http, int64_t deadline, struct fault *fault) {
	size_t taken;
	int r;

	if (http->start == http->end) {
		size_t n;
		http->start = http->end = 0;
		r = conn_read(http->conn, http->buffer, sizeof(http->buffer), deadline, &n, fault);
		if (r < 0)
			return r;
		http->end = n;
	}
	r = answer_feed(&http->answer, http->buffer + http->start, http->end - http->start, &taken, fault);
	http->start += taken;
	return r;
}

static int send_head(struct http *http, const struct request *request, struct fault *fault) {
	int64_t deadline = clock_now() + request->connect_ns + SEND_NS;
	struct text text = {0};
	int r = 0;

	if (!leads_there(http, request->url))
		r = open_to(http, request, deadline, fault);
	if (r == 0) {
		write_head(request, &text);
		r = text.failed ? fault_errno(fault, CODE_FAILED, ENOMEM, "request")
				: conn_write(http->conn, text.data, text.size, deadline, fault);
	}
	text_free(&text);
	answer_begin(&http->answer);
	http->start = http->end = 0;
	http->idle_ns = request->idle_ns;
	return r;
}

static int exchange(struct http *http, const struct request *request, struct fault *fault) {
	int r = send_head(http, request, fault);
	int64_t deadline = clock_now() + request->answer_ns;

	while (r == 0 && !http->answer.head_done)
		r = advance(http, deadline, fault);
	return r;
}

// True: the earlier response was read to its end.
static bool is_at_rest(const struct http *http) {
	return http->answer.body_done && http->start == http->end && !conn_is_stale(http->conn);
}

int http_send(struct http *http, const struct request *request, struct head *ret, struct fault *fault) {
	bool again = leads_there(http, request->url) && is_at_rest(http);
	int r;

	if (!again)
		http_close(http);
	r = exchange(http, request, fault);
	// the server closed the kept connection: that is no error, a new one is tried
	if (r < 0 && r != -ETIMEDOUT && r != -ECANCELED && again) {
		http_close(http);
		r = exchange(http, request, fault);
	}
	if (r < 0) {
		http_close(http);
		return fault_prefix(fault, r, "%s: ", request->url->text);
	}
	*ret = http->answer.head;
	return 0;
}

int http_body(struct http *http, const char **ret_data, size_t *ret_size, struct fault *fault) {
	int64_t deadline = clock_now() + http->idle_ns;

	http->answer.body_size = 0;
	while (!http->answer.body_done && http->answer.body_size == 0) {
		int r = advance(http, deadline, fault);
		if (r < 0) {
			http_close(http);
			return r;
		}
	}
	*ret_data = http->answer.body;
	*ret_size = http->answer.body_size;
	if (http->answer.body_done && !answer_keeps_alive(&http->answer))
		http_close(http);
	return 0;
}

static int read_direct(struct http *http, void *data, size_t size, int64_t deadline, size_t *ret_size,
		       struct fault *fault) {
	uint64_t left = answer_left(&http->answer);
	size_t n, fed = 0, taken;
	int r = conn_read(http->conn, data, size < left ? size : (size_t)left, deadline, &n, fault);

	do { // the parser consumes the last byte in a second step
		if (r == 0)
			r = answer_feed(&http->answer, (char *)data + fed, n - fed, &taken, fault);
		if (r < 0)
			return r;
		fed += taken;
	} while (fed < n && !http->answer.body_done);
	http->answer.body_size = 0;
	*ret_size = n;
	return 0;
}

static size_t copy_slice(struct answer *answer, void *data, size_t size) {
	size_t n = size < answer->body_size ? size : answer->body_size;

	memcpy(data, answer->body, n);
	answer->body += n;
	answer->body_size -= n;
	return n;
}

static int read_into(struct http *http, void *data, size_t size, size_t *ret_size, struct fault *fault) {
	int64_t deadline = clock_now() + http->idle_ns;
	struct answer *answer = &http->answer;
	int r = 0;

	*ret_size = 0;
	if (answer->body_size == 0 && http->start == http->end && answer_left(answer) > 0)
		return read_direct(http, data, size, deadline, ret_size, fault);
	while (r == 0 && !answer->body_done && answer->body_size == 0)
		r = advance(http, deadline, fault);
	if (r == 0 && answer->body_size > 0)
		*ret_size = copy_slice(answer, data, size);
	while (r == 0 && answer->body_size == 0 && !answer->body_done && http->start < http->end &&
	       answer_left(answer) == 0 && answer->head.has_length)
		r = advance(http, deadline, fault); // the end, which is already in the buffer
	return r;
}

int http_body_into(struct http *http, void *data, size_t size, size_t *ret_size, struct fault *fault) {
	int r = read_into(http, data, size, ret_size, fault);

	if (r < 0 || (http->answer.body_done && http->answer.body_size == 0 && !answer_keeps_alive(&http->answer)))
		http_close(http);
	return r;
}

int http_body_all(struct http *http, size_t max, char **ret_data, size_t *ret_size, struct fault *fault) {
	struct text text = {0};
	const char *data;
	size_t n;
	int r;

	text_adds(&text, "");
	while ((r = http_body(http, &data, &n, fault)) == 0 && n > 0) {
		if (text.size + n > max) {
			r = fault_set(fault, CODE_NETWORK, "the response is longer than %zu bytes", max);
			http_close(http);
			break;
		}
		text_add(&text, data, n);
	}
	if (r == 0 && text.failed)
		r = fault_errno(fault, CODE_FAILED, ENOMEM, "answer");
	if (r < 0) {
		text_free(&text);
		return r;
	}
	*ret_data = text.data;
	*ret_size = text.size;
	return 0;
}

int http_begin(struct http *http, const struct request *request, struct fault *fault) {
	int r;

	http_close(http);
	r = send_head(http, request, fault);
	return r < 0 ? fault_prefix(fault, r, "%s: ", request->url->text) : 0;
}

int http_more(struct http *http, const void *data, size_t size, struct fault *fault) {
	return conn_write(http->conn, data, size, clock_now() + http->idle_ns, fault);
}

int http_look(struct http *http, int64_t deadline, struct fault *fault) {
	int r = 0;

	while (r == 0 && !http->answer.head_done && http->answer.head.status != 100)
		r = advance(http, deadline, fault);
	if (!http->answer.head_done)
		http->answer.head.status = 0; // a 100 is not the final response
	return r == -ETIMEDOUT ? 0 : r;
}

void http_close(struct http *http) { conn_close(&http->conn); }
