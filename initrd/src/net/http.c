// SPDX-License-Identifier: Apache-2.0
#include "net/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"

static bool leads_there(const struct http *http, const struct url *url) {
	return http->conn && http->port == url->port && http->scheme == url->scheme && !strcmp(http->host, url->host);
}

static int open_to(struct http *http, const struct request *request, int64_t deadline, struct fault *fault) {
	const struct url *url = request->url;
	int r;

	http_close(http);
	if (strlen(url->host) >= sizeof(http->host))
		return fault_set(fault, CODE_USAGE, "%s: the name is too long", url->text);
	r = conn_open(url, request->ca, deadline, &http->conn, fault);
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
	if (request->from > 0)
		text_addf(text, "Range: bytes=%llu-\r\n", (unsigned long long)request->from);
	if (request->body)
		text_addf(text, "Content-Type: text/plain\r\nContent-Length: %zu\r\n", request->body_size);
	text_adds(text, "\r\n");
	if (request->body)
		text_add(text, request->body, request->body_size);
}

// Reads more when there is nothing left, then lets the answer take from it.
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

static int exchange(struct http *http, const struct request *request, struct fault *fault) {
	int64_t now = clock_now(), deadline = now + request->connect_ns;
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
	deadline = clock_now() + request->answer_ns;
	while (r == 0 && !http->answer.head_done)
		r = advance(http, deadline, fault);
	return r;
}

int http_send(struct http *http, const struct request *request, struct head *ret, struct fault *fault) {
	bool again = leads_there(http, request->url) && !conn_is_stale(http->conn);
	int r;

	if (!again)
		http_close(http);
	r = exchange(http, request, fault);
	if (r < 0 && r != -ETIMEDOUT && again) { // the kept connection was closed under us: that says nothing about the server
		http_close(http);
		r = exchange(http, request, fault);
	}
	if (r < 0) {
		http_close(http);
		return fault_prefix(fault, r, "%s: ", request->url->text);
	}
	http->idle_ns = request->idle_ns;
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

int http_body_all(struct http *http, size_t max, char **ret_data, size_t *ret_size, struct fault *fault) {
	struct text text = {0};
	const char *data;
	size_t n;
	int r;

	text_adds(&text, "");
	while ((r = http_body(http, &data, &n, fault)) == 0 && n > 0) {
		if (text.size + n > max) {
			r = fault_set(fault, CODE_NETWORK, "the answer is longer than %zu bytes", max);
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

void http_close(struct http *http) { conn_close(&http->conn); }
