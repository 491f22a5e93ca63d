// SPDX-License-Identifier: Apache-2.0
// Reads any range of an image file. A stream hides interruptions, retries and the choice of the server.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "source/source.h"

struct stream; // for one thread

int stream_open(struct source *source, struct stream **ret, struct fault *fault);
void stream_close(struct stream **stream); // for cleanup_with; *stream may be NULL

// Sets the bytes that the next reads return: one request. The rest of an earlier range is dropped.
void stream_range(struct stream *stream, uint64_t from, uint64_t size);

// From any thread: all reads end with -ECANCELED from now on.
void stream_stop(struct stream *stream);

// Reads the next `size` bytes of the range. After an interruption it continues at the same byte, on this or another
// server. Returns an error of code 6 if no server responds in time, or none has the file.
int stream_read(struct stream *stream, void *data, size_t size, struct fault *fault);

// Size of the file; requested with a separate stream if no response has given it yet.
int stream_file_size(struct source *source, uint64_t *ret, struct fault *fault);
