// SPDX-License-Identifier: Apache-2.0
// An image file, read from anywhere in it. A stream hides cuts, retries and servers.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "source/source.h"

struct stream; // for one thread

int stream_open(struct source *source, struct stream **ret, struct fault *fault);
void stream_close(struct stream **stream); // for cleanup_with; *stream may be NULL

// The bytes that the next reads will take: one request. What is left of an earlier range is dropped.
void stream_range(struct stream *stream, uint64_t from, uint64_t size);

// From any thread: reads end with -ECANCELED, now and from here on.
void stream_stop(struct stream *stream);

// The next `size` bytes of the range, all of them. After a cut it goes on at the same byte, here or on another server.
// Code 6 when no server answers in time, or none has the file.
int stream_read(struct stream *stream, void *data, size_t size, struct fault *fault);

// Size of the file; asked for by a stream of its own when no answer has told it yet.
int stream_file_size(struct source *source, uint64_t *ret, struct fault *fault);
