// SPDX-License-Identifier: Apache-2.0
// Asynchronous writes of one thread to a disk: it fills one buffer while the others are written. Uses io_uring if the
// kernel has it; else, and for devices without a descriptor, each write is synchronous.
#pragma once

#include "disk/device.h"

#define QUEUE_DEPTH 4u // buffers of BLOCK bytes
#define QUEUE_MOST 8u  // of a disk with few others beside it

struct queue;

// `depth`: buffers, at most QUEUE_MOST.
int queue_open(struct device *device, unsigned depth, struct queue **ret, struct fault *fault);

// What is left of a write that failed with `error` is handed to `retry`, which writes it in another way; without one it
// is tried once more as it is. Writes may end in another order than they were made in.
typedef int queue_retry(void *context, int error, const uint8_t *data, size_t size, uint64_t offset,
			struct fault *fault);
void queue_on_failure(struct queue *queue, queue_retry *retry, void *context);

// for cleanup_with; *queue may be NULL. Waits for the pending writes.
void queue_close(struct queue **queue);

// Returns a buffer of BLOCK bytes to fill and submits the writes from the one before. Waits until a buffer is free. Its
// content is undefined.
int queue_take(struct queue *queue, uint8_t **ret, struct fault *fault);

// Writes part of the buffer taken last. That part must not be changed afterwards.
int queue_write(struct queue *queue, size_t from, size_t size, uint64_t offset, struct fault *fault);

int queue_finish(struct queue *queue, struct fault *fault); // waits until everything is written; does not sync
uint64_t queue_written(const struct queue *queue);	    // bytes of successful writes
