// SPDX-License-Identifier: Apache-2.0
#include "disk/queue.h"

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define WRITES 128u // pending at a time: as many as a chunk has runs

// One pending write.
struct write {
	struct write *next; // free one
	unsigned buffer;
	const uint8_t *data;
	size_t size;
	uint64_t offset, place; // on the device, on the disk
};

struct queue {
	struct device *device;
	uint8_t *memory;
	unsigned depth;		  // buffers
	bool has_ring, has_fixed; // fixed: the buffers are registered with the kernel
	struct io_uring ring;
	unsigned taken;		      // buffer
	unsigned pending[QUEUE_MOST]; // writes of each buffer
	unsigned under_way;	      // writes
	struct write writes[WRITES], *free;
	queue_retry *retry; // or NULL
	void *context;	    // of it
	uint64_t written;
	int error; // of the first write that failed
	struct fault fault;
};

// Registers only the buffers, not the descriptor: a ring releases a registered descriptor some time after it is closed,
// and until then the disk would be in use.
static size_t memory_of(const struct queue *queue) { return (size_t)queue->depth * BLOCK; }

static bool register_buffers(struct queue *queue) {
	struct iovec all = {queue->memory, memory_of(queue)};
	return io_uring_register_buffers(&queue->ring, &all, 1) == 0;
}

int queue_open(struct device *device, unsigned depth, struct queue **ret, struct fault *fault) {
	struct queue *queue = calloc(1, sizeof(*queue));
	size_t size = (size_t)depth * BLOCK;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!queue || memory == MAP_FAILED) {
		free(queue);
		if (memory != MAP_FAILED)
			munmap(memory, size);
		return fault_errno(fault, CODE_FAILED, ENOMEM, "write buffers");
	}
	(void)madvise(memory, size, MADV_HUGEPAGE);
	queue->device = device;
	queue->memory = memory;
	queue->depth = depth;
	for (size_t i = 0; i < WRITES; i++) {
		queue->writes[i].next = queue->free;
		queue->free = &queue->writes[i];
	}
	queue->has_ring = device->fd >= 0 && io_uring_queue_init(WRITES, &queue->ring, 0) == 0;
	queue->has_fixed = queue->has_ring && register_buffers(queue);
	*ret = queue;
	return 0;
}

void queue_on_failure(struct queue *queue, queue_retry *retry, void *context) {
	queue->retry = retry;
	queue->context = context;
}

// Finishes a short or failed write with plain writes, which succeed or report the error.
static void complete(struct queue *queue, struct write *write, int result) {
	size_t done = result > 0 ? (size_t)result : 0;
	int r = 0;

	if (done < write->size && queue->error == 0)
		r = queue->retry ? queue->retry(queue->context, result < 0 ? result : -EIO, write->data + done,
						write->size - done, write->offset + done, &queue->fault)
				 : device_write(queue->device, write->data + done, write->size - done,
						write->offset + done, &queue->fault);
	if (r < 0)
		queue->error = r;
	else if (queue->error == 0)
		queue->written += write->size;
	queue->pending[write->buffer]--;
	queue->under_way--;
	write->next = queue->free;
	queue->free = write;
}

static void reap(struct queue *queue) {
	struct io_uring_cqe *cqe;

	while (io_uring_peek_cqe(&queue->ring, &cqe) == 0) {
		struct write *write = io_uring_cqe_get_data(cqe);
		int result = cqe->res;
		io_uring_cqe_seen(&queue->ring, cqe);
		complete(queue, write, result);
	}
}

// Submits the new writes, waits for at least `least` completions, and handles all that have arrived.
static int advance(struct queue *queue, unsigned least, struct fault *fault) {
	int r = io_uring_submit_and_wait(&queue->ring, least);

	if (r < 0 && r != -EINTR && r != -EAGAIN && r != -EBUSY)
		return fault_errno(fault, CODE_FAILED, r, "%s: write queue", queue->device->name);
	if (r == -EAGAIN) // no memory for requests: the pending ones will free some
		clock_wait_until(clock_now() + MILLISECOND);
	reap(queue);
	if (queue->error < 0)
		*fault = queue->fault;
	return queue->error;
}

static bool find_free(struct queue *queue) {
	for (unsigned i = 0; i < queue->depth; i++)
		if (queue->pending[i] == 0) {
			queue->taken = i;
			return true;
		}
	return false;
}

int queue_take(struct queue *queue, uint8_t **ret, struct fault *fault) {
	int r = queue->has_ring ? advance(queue, 0, fault) : 0;

	while (r == 0 && !find_free(queue))
		r = advance(queue, 1, fault);
	if (r == 0)
		*ret = queue->memory + (size_t)queue->taken * BLOCK;
	return r;
}

static void prepare(struct queue *queue, struct write *write) {
	struct io_uring_sqe *sqe = io_uring_get_sqe(&queue->ring); // there are as many as writes

	if (queue->has_fixed)
		io_uring_prep_write_fixed(sqe, queue->device->fd, write->data, (unsigned)write->size, write->place, 0);
	else
		io_uring_prep_write(sqe, queue->device->fd, write->data, (unsigned)write->size, write->place);
	io_uring_sqe_set_data(sqe, write);
}

int queue_write(struct queue *queue, size_t from, size_t size, uint64_t offset, struct fault *fault) {
	const uint8_t *data = queue->memory + (size_t)queue->taken * BLOCK + from;
	struct write *write;
	uint64_t place;
	int r = 0;

	if (!queue->has_ring) {
		r = device_write(queue->device, data, size, offset, fault);
		if (r < 0 && queue->retry)
			r = queue->retry(queue->context, r, data, size, offset, fault);
		queue->written += r == 0 ? size : 0;
		return r;
	}
	if (device_place(queue->device, offset, size, &place) < 0)
		return fault_set(fault, CODE_FAILED, "%s: write queue: byte %llu is not on it", queue->device->name,
				 (unsigned long long)offset);
	while (r == 0 && !queue->free)
		r = advance(queue, 1, fault);
	if (r < 0)
		return r;
	write = queue->free;
	queue->free = write->next;
	*write = (struct write){.buffer = queue->taken, .data = data, .size = size, .offset = offset, .place = place};
	queue->pending[write->buffer]++;
	queue->under_way++;
	prepare(queue, write);
	return 0;
}

int queue_finish(struct queue *queue, struct fault *fault) {
	int r = 0;

	while (r == 0 && queue->under_way > 0)
		r = advance(queue, 1, fault);
	return r;
}

uint64_t queue_written(const struct queue *queue) { return queue->written; }

void queue_close(struct queue **queue) {
	struct queue *q = *queue;
	struct fault ignored;

	if (!q)
		return;
	q->error = q->under_way > 0 ? -ECANCELED : q->error; // the pending writes are awaited, but not retried
	while (q->under_way > 0 && advance(q, 1, &ignored) == -ECANCELED)
		;
	if (q->has_ring)
		io_uring_queue_exit(&q->ring);
	munmap(q->memory, memory_of(q));
	free(q);
	*queue = NULL;
}
