// SPDX-License-Identifier: Apache-2.0
// The location of an image file: a local file, or HTTP on one of several servers. Streams read it (source/stream.h).
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "net/api.h"
#include "net/url.h"
#include "source/server.h"

// May be used by several threads, each with its own stream.
struct source {
	const struct urls *urls;
	const char *ca;
	int64_t idle_ns;
	const char *token_file; // sent for captured images; NULL: none
	int fd;			// of a local file; -1: HTTP
	struct servers servers;
	atomic_uint opened; // streams
	atomic_uint_fast64_t received;
	pthread_mutex_t lock; // for the fields below
	bool has_size;
	uint64_t size;
};

// The URLs are one file, or one or more of HTTP. `ca`: CA certificates for https. A stream fails if no byte arrives for
// `idle_ns`. The URLs must outlive the source.
int source_open(const struct urls *urls, const char *ca, int64_t idle_ns, struct source **ret, struct fault *fault);
void source_close(struct source **source); // for cleanup_with; *source may be NULL

// Sends the token in the file with each request for a captured image, over TLS: unsigned ones are private. The file is
// read each time, because it is renewed while a long transfer runs. NULL: no token.
void source_use_token(struct source *source, const char *path);

// Sets *ret to the token for a URL, or to an empty text.
int source_token(const struct source *source, const struct url *url, char ret[TOKEN_MAX + 1], struct fault *fault);

// Sets the size of the file, from the first response. Returns an error of code 6 if a later response has another
// size.
bool source_knows_size(struct source *source, uint64_t *ret);
int source_learn_size(struct source *source, uint64_t size, struct fault *fault);

uint64_t source_received(const struct source *source); // bytes of bodies received, over all streams
unsigned source_streams(const struct source *source);  // a suitable number of streams
