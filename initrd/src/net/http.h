// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 requests. The connection is kept, and reused if the next request goes to the same server.
#pragma once

#include "net/answer.h"
#include "net/conn.h"

#define HTTP_BUFFER (64u * 1024)

struct request {
	const char *method;
	const struct url *url;
	const char *ca;	   // file of CA certificates, for https
	const char *token; // bearer token; NULL for none
	const void *body;  // NULL for none
	size_t body_size;
	bool is_chunked;     // the body follows in chunks, if the server accepts it: http_begin
	uint64_t from, size; // requested bytes; size 0: the whole file
	int wake;	     // see net/socket.h
	int64_t connect_ns;  // longest time to connect; 5 s more for the TLS handshake and to send
	int64_t answer_ns;   // longest time until the head of the response
	int64_t idle_ns;     // longest time between two pieces of the body
};

struct http {
	struct conn *conn; // NULL: none open
	char host[256];	   // its server
	uint16_t port;
	enum scheme scheme;
	int64_t idle_ns;
	struct answer answer;
	size_t start, end; // bytes of the buffer that are not consumed yet
	char buffer[HTTP_BUFFER];
};

// Sends the request and reads the head of the response. After a failure the connection is closed.
int http_send(struct http *http, const struct request *request, struct head *ret, struct fault *fault);

// Reads the next bytes of the body, valid until the next call; sets *ret_size to 0 at its end.
int http_body(struct http *http, const char **ret_data, size_t *ret_size, struct fault *fault);

// The same into the caller's memory, at most `size` bytes, without a copy where possible.
int http_body_into(struct http *http, void *data, size_t size, size_t *ret_size, struct fault *fault);

// Reads the whole body, at most `max` bytes: a longer one is an error. NUL-terminated, must be freed.
int http_body_all(struct http *http, size_t max, char **ret_data, size_t *ret_size, struct fault *fault);

// A request whose body is produced while it is sent. http_begin sends the head; http_more sends the body, framed by the
// caller; http_look reads until the head of the response is complete (http->answer.head_done), the server has sent
// "100 Continue", or the deadline has passed.
int http_begin(struct http *http, const struct request *request, struct fault *fault);
int http_more(struct http *http, const void *data, size_t size, struct fault *fault);
int http_look(struct http *http, int64_t deadline, struct fault *fault);

void http_close(struct http *http); // may be reused afterwards
