// SPDX-License-Identifier: Apache-2.0
// An image file, read from anywhere in it: a local file, or HTTP on one of several servers. A source hides cuts, retries and servers.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "net/url.h"

struct source; // may be used by several threads, each with a stream of its own
struct stream;

// A list is either all files or none. `ca`: CA certificates for https. Gives a stream up when no byte has come for `idle_ns`.
// The URLs must outlive the source.
int source_open(const struct urls *urls, const char *ca, int64_t idle_ns, struct source **ret, struct fault *fault);
void source_close(struct source **source); // for cleanup_with; *source may be NULL

// Size of the file; learnt from the first answer, and the same in every later one, or code 6.
int source_size(struct source *source, uint64_t *ret, struct fault *fault);
uint64_t source_received(const struct source *source); // bytes of bodies that came, over all streams
unsigned source_streams(const struct source *source);  // as many as suit it

int stream_open(struct source *source, struct stream **ret, struct fault *fault);
void stream_close(struct stream **stream); // for cleanup_with; *stream may be NULL

// The bytes that the next reads will take: one request. What is left of an earlier range is dropped.
void stream_range(struct stream *stream, uint64_t from, uint64_t size);

// From any thread: reads end with -ECANCELED, now and from here on.
void stream_stop(struct stream *stream);

// The next `size` bytes of the range, all of them. After a cut it goes on at the same byte, here or on another server. Code 6 when no
// server answers in time, or none has the file.
int stream_read(struct stream *stream, void *data, size_t size, struct fault *fault);
