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
	ahead_skip *skip;	  // or NULL
	const void *context;	  // of it
	ahead_place *place;	  // NULL: block n is n units behind the start
	const void *where;	  // of it
	bool has_ring, has_fixed; // fixed: the buffers are registered with the kernel
	struct io_uring ring;
	uint64_t start, size;
	uint64_t next, submitted; // blocks
	uint32_t unit;		  // bytes of a block
	unsigned depth, under_way;
	struct slot slots[AHEAD_SAMPLES];
};

static uint64_t blocks_of(const struct ahead *ahead) { return (ahead->size + ahead->unit - 1) / ahead->unit; }

static uint32_t size_of(const struct ahead *ahead, uint64_t block) {
	uint64_t rest = ahead->size - block * ahead->unit;
	return rest < ahead->unit ? (uint32_t)rest : ahead->unit;
}

static uint64_t offset_of(const struct ahead *ahead, uint64_t block) {
	return ahead->place ? ahead->place(ahead->where, block) : ahead->start + block * ahead->unit;
}

static uint8_t *data_of(const struct ahead *ahead, uint64_t block) {
	return ahead->memory + block % ahead->depth * ahead->unit;
}

static struct slot *slot_of(struct ahead *ahead, uint64_t block) { return &ahead->slots[block % ahead->depth]; }

static int open_units(struct device *device, uint32_t unit, unsigned depth, struct ahead **ret, struct fault *fault) {
	struct ahead *ahead = calloc(1, sizeof(*ahead));
	struct iovec all = {.iov_len = (size_t)depth * unit};

	if (!ahead || !(all.iov_base = device_buffer(all.iov_len))) {
		free(ahead);
		return fault_errno(fault, CODE_FAILED, ENOMEM, "read buffers");
	}
	ahead->memory = all.iov_base;
	ahead->device = device;
	ahead->unit = unit;
	ahead->depth = depth;
	ahead->has_ring = device->fd >= 0 && io_uring_queue_init(depth, &ahead->ring, 0) == 0;
	ahead->has_fixed = ahead->has_ring && io_uring_register_buffers(&ahead->ring, &all, 1) == 0;
	*ret = ahead;
	return 0;
}

int ahead_open(struct device *device, uint64_t offset, uint64_t size, unsigned depth, struct ahead **ret,
	       struct fault *fault) {
	int r = open_units(device, BLOCK, depth, ret, fault);

	if (r == 0) {
		(*ret)->start = offset;
		(*ret)->size = size;
	}
	return r;
}

int ahead_open_samples(struct device *device, uint64_t count, uint32_t unit, ahead_place *place, const void *context,
		       struct ahead **ret, struct fault *fault) {
	int r = open_units(device, unit, AHEAD_SAMPLES, ret, fault);

	if (r == 0) {
		(*ret)->size = count * unit;
		(*ret)->place = place;
		(*ret)->where = context;
	}
	return r;
}

void ahead_leave_out(struct ahead *ahead, ahead_skip *skip, const void *context) {
	ahead->skip = skip;
	ahead->context = context;
}

static bool is_left_out(const struct ahead *ahead, uint64_t block) {
	return ahead->skip && ahead->skip(ahead->context, offset_of(ahead, block), size_of(ahead, block));
}

static void prepare(struct ahead *ahead, uint64_t block, uint64_t place) {
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ahead->ring); // there are as many as slots
	int fd = ahead->device->fd;

	if (ahead->has_fixed)
		io_uring_prep_read_fixed(sqe, fd, data_of(ahead, block), size_of(ahead, block), place, 0);
	else
		io_uring_prep_read(sqe, fd, data_of(ahead, block), size_of(ahead, block), place);
	io_uring_sqe_set_data64(sqe, block % ahead->depth);
}

static void submit(struct ahead *ahead) {
	while (ahead->submitted < blocks_of(ahead) && ahead->submitted < ahead->next + ahead->depth) {
		uint64_t block = ahead->submitted++, place;

		slot_of(ahead, block)->result = -EIO;
		if (is_left_out(ahead, block) ||
		    device_place(ahead->device, offset_of(ahead, block), size_of(ahead, block), &place) < 0)
			continue;
		prepare(ahead, block, place);
		slot_of(ahead, block)->is_pending = true;
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
	struct slot *slot = slot_of(ahead, block);
	struct fault ignored;
	int r = 0;

	if (!ahead->has_ring && is_left_out(ahead, block))
		return -EIO;
	if (!ahead->has_ring)
		return device_read(ahead->device, data_of(ahead, block), size, offset_of(ahead, block), &ignored);
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
	*ret_offset = offset_of(ahead, block);
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
