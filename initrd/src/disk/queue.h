// SPDX-License-Identifier: Apache-2.0
// Writes on their way to a disk, for one thread: it fills a buffer while the disk takes what was in the others. By
// io_uring where the kernel has it; else, and for devices without a descriptor, each write is done when it is asked
// for.
#pragma once

#include "disk/device.h"

#define QUEUE_DEPTH 4u // buffers of BLOCK bytes

struct queue;

int queue_open(struct device *device, struct queue **ret, struct fault *fault);
// for cleanup_with; *queue may be NULL. Waits for writes that the kernel still has.
void queue_close(struct queue **queue);

// A buffer to fill, BLOCK bytes; the one taken before goes its way. Waits until one is free. What is in it, nobody
// knows.
int queue_take(struct queue *queue, uint8_t **ret, struct fault *fault);

// Part of the buffer taken last, which is not to be touched from here on.
int queue_write(struct queue *queue, size_t from, size_t size, uint64_t offset, struct fault *fault);

int queue_finish(struct queue *queue, struct fault *fault); // until all is written; not synced
uint64_t queue_written(const struct queue *queue);	     // bytes, of writes that have ended well
