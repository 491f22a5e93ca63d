// SPDX-License-Identifier: Apache-2.0
// Where an image file is: a local file, or HTTP on one of several servers. It is read by streams (image/stream.h).
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "net/url.h"
#include "source/server.h"

// May be used by several threads, each with a stream of its own.
struct source {
	const struct urls *urls;
	const char *ca;
	int64_t idle_ns;
	int fd; // of a local file; -1: HTTP
	struct servers servers;
	atomic_uint opened; // streams
	atomic_uint_fast64_t received;
	pthread_mutex_t lock; // for all below
	bool has_size;
	uint64_t size;
};

// A list is either all files or none. `ca`: CA certificates for https. Gives a stream up when no byte has come for
// `idle_ns`. The URLs must outlive the source.
int source_open(const struct urls *urls, const char *ca, int64_t idle_ns, struct source **ret, struct fault *fault);
void source_close(struct source **source); // for cleanup_with; *source may be NULL

// Size of the file: learnt from the first answer, and the same in every later one, or code 6.
bool source_knows_size(struct source *source, uint64_t *ret);
int source_learn_size(struct source *source, uint64_t size, struct fault *fault);

uint64_t source_received(const struct source *source); // bytes of bodies that came, over all streams
unsigned source_streams(const struct source *source);  // as many as suit it
