// SPDX-License-Identifier: Apache-2.0
#include "disk/ahead.h"

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>

#include "base/cleanup.h"

struct slot {
	bool is_pending;
	int result; // bytes, or -errno
};

// Block n is in slot n modulo the number of slots.
struct ahead {
	struct device *device;
	uint8_t *memory;
	ahead_skip *skip; // or NULL
	const void *context; // of it
	bool has_ring;
	struct io_uring ring;
	uint64_t start, size;
	uint64_t next, submitted; // blocks
	unsigned under_way;
	struct slot slots[AHEAD_DEPTH];
};

static uint64_t blocks_of(const struct ahead *ahead) { return (ahead->size + BLOCK - 1) / BLOCK; }

static uint32_t size_of(const struct ahead *ahead, uint64_t block) {
	uint64_t rest = ahead->size - block * BLOCK;
	return rest < BLOCK ? (uint32_t)rest : BLOCK;
}

static uint8_t *data_of(const struct ahead *ahead, uint64_t block) {
	return ahead->memory + block % AHEAD_DEPTH * BLOCK;
}

int ahead_open(struct device *device, uint64_t offset, uint64_t size, struct ahead **ret, struct fault *fault) {
	struct ahead *ahead = calloc(1, sizeof(*ahead));

	if (!ahead || !(ahead->memory = device_buffer((size_t)AHEAD_DEPTH * BLOCK))) {
		free(ahead);
		return fault_errno(fault, CODE_FAILED, ENOMEM, "read buffers");
	}
	ahead->device = device;
	ahead->start = offset;
	ahead->size = size;
	ahead->has_ring = device->fd >= 0 && io_uring_queue_init(AHEAD_DEPTH, &ahead->ring, 0) == 0;
	*ret = ahead;
	return 0;
}

void ahead_leave_out(struct ahead *ahead, ahead_skip *skip, const void *context) {
	ahead->skip = skip;
	ahead->context = context;
}

static bool is_left_out(const struct ahead *ahead, uint64_t block) {
	return ahead->skip && ahead->skip(ahead->context, ahead->start + block * BLOCK, size_of(ahead, block));
}

static void submit(struct ahead *ahead) {
	while (ahead->submitted < blocks_of(ahead) && ahead->submitted < ahead->next + AHEAD_DEPTH) {
		uint64_t block = ahead->submitted++;
		struct io_uring_sqe *sqe;
		ahead->slots[block % AHEAD_DEPTH].result = -EIO;
		if (is_left_out(ahead, block))
			continue;
		sqe = io_uring_get_sqe(&ahead->ring); // there are as many as slots
		io_uring_prep_read(sqe, ahead->device->fd, data_of(ahead, block), size_of(ahead, block),
				   ahead->start + block * BLOCK);
		io_uring_sqe_set_data64(sqe, block % AHEAD_DEPTH);
		ahead->slots[block % AHEAD_DEPTH].is_pending = true;
		ahead->under_way++;
	}
}

// Waits for at least one read. An error is of the ring, not of a read.
static int reap(struct ahead *ahead) {
	struct io_uring_cqe *cqe;
	int r = io_uring_submit_and_wait(&ahead->ring, 1);

	if (r < 0 && r != -EINTR && r != -EAGAIN && r != -EBUSY)
		return r;
	while (io_uring_peek_cqe(&ahead->ring, &cqe) == 0) {
		struct slot *slot = &ahead->slots[io_uring_cqe_get_data64(cqe)];
		slot->result = cqe->res;
		slot->is_pending = false;
		ahead->under_way--;
		io_uring_cqe_seen(&ahead->ring, cqe);
	}
	return 0;
}

static int take(struct ahead *ahead, uint64_t block, uint32_t size) {
	struct slot *slot = &ahead->slots[block % AHEAD_DEPTH];
	struct fault ignored;
	int r = 0;

	if (!ahead->has_ring && is_left_out(ahead, block))
		return -EIO;
	if (!ahead->has_ring)
		return device_read(ahead->device, data_of(ahead, block), size, ahead->start + block * BLOCK, &ignored);
	submit(ahead);
	(void)io_uring_submit(&ahead->ring); // what is not submitted is when it is waited for
	while (r == 0 && slot->is_pending)
		r = reap(ahead);
	if (r == 0 && slot->result != (int)size)
		r = slot->result < 0 ? slot->result : -EIO; // a short one is read again by the caller
	return r;
}

int ahead_next(struct ahead *ahead, const uint8_t **ret, uint64_t *ret_offset, uint32_t *ret_size) {
	uint64_t block = ahead->next;
	int r;

	if (block == blocks_of(ahead))
		return 0;
	*ret = data_of(ahead, block);
	*ret_offset = ahead->start + block * BLOCK;
	*ret_size = size_of(ahead, block);
	r = take(ahead, block, *ret_size);
	ahead->next++;
	return r < 0 ? r : 1;
}

void ahead_close(struct ahead **ahead) {
	struct ahead *a = *ahead;

	if (!a)
		return;
	while (a->has_ring && a->under_way > 0 && reap(a) == 0)
		;
	if (a->has_ring)
		io_uring_queue_exit(&a->ring);
	free(a->memory);
	free(a);
	*ahead = NULL;
}
