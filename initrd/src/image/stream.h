// SPDX-License-Identifier: Apache-2.0
// What a source and its streams have inside; for source.c, http.c and server.c only.
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/clock.h"
#include "image/source.h"
#include "net/http.h"

// How a server is used, by all streams.
enum standing {
	SERVER_GOOD,
	SERVER_RANGELESS, // it answers with the whole file: only when there is no other
	SERVER_REFUSED,	  // another try will not change what it said
};

struct server {
	enum standing standing;
	int64_t not_before; // when it may be asked again
	struct backoff backoff;
	char said[256]; // last, with its URL, when that was no file
};

struct source {
	const struct urls *urls;
	const char *ca;
	int64_t idle_ns;
	int fd; // of a local file; -1: HTTP
	atomic_uint opened;
	atomic_uint_fast64_t received;
	pthread_mutex_t lock; // for all below
	bool has_size;
	uint64_t size;
	struct server servers[URLS_MAX];
};

struct choice {
	unsigned server;
	enum standing standing;
	int64_t when; // it may be asked
};

struct stream {
	struct source *source;
	uint64_t at, left; // of the range
	int wake;	   // eventfd, readable once stopped
	struct http http;
	struct choice choice;
	bool answering; // an answer is being read, which begins `skip` bytes before `at`
	bool proven;	// bytes of it have come
	uint64_t skip, answer_left;
	int64_t last_byte; // when one came
};

int source_learn_size(struct source *source, uint64_t size, struct fault *fault);

// The server to ask next: the same again, unless another is better. Code 6, with what each of them said: none is left.
int server_choose(struct source *source, struct choice *choice, struct fault *fault);
int server_give_up(struct source *source, unsigned at, struct fault *fault);
void server_works(struct source *source, unsigned at);
void server_failed(struct source *source, unsigned at, const struct head *head, enum standing standing, const struct fault *fault);

int file_read_at(struct stream *stream, void *data, size_t size, struct fault *fault);
int http_read_at(struct stream *stream, void *data, size_t size, struct fault *fault);
