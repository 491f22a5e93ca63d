// SPDX-License-Identifier: Apache-2.0
#include "image/pipeline.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/cleanup.h"

#define SLOTS 8u
#define ZERO_RUN_MAX ((uint64_t)128 << 20)

struct slot {
	unsigned char *buffer; // BLOCK bytes
	struct piece piece;    // size 0: the last
};

// A slot belongs to the reader until it is counted in `filled`, and to the writer until it is counted out again.
// `lock` guards filled, failed and written. next is the reader's. fault and result are the writer's until it was joined; the rest of the
// writer's fields are its own. device is the writer's while it runs.
struct ring {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct slot slots[SLOTS];
	unsigned filled;
	bool failed; // the writer has stopped: no slot will become free
	uint64_t written;

	unsigned next; // slot that the reader fills

	struct device *device;
	uint64_t zero_from, zero_size; // run of zero pieces, not yet written
	int result;
	struct fault fault;
};

static int flush_zeros(struct ring *ring) {
	uint64_t size = ring->zero_size;
	ring->zero_size = 0;
	return size ? device_zero(ring->device, ring->zero_from, size, &ring->fault) : 0;
}

static int add_zeros(struct ring *ring, const struct piece *piece) {
	if (ring->zero_size && (ring->zero_from + ring->zero_size != piece->offset || ring->zero_size >= ZERO_RUN_MAX)) {
		int r = flush_zeros(ring);
		if (r < 0)
			return r;
	}
	if (!ring->zero_size)
		ring->zero_from = piece->offset;
	ring->zero_size += piece->size;
	return 0;
}

static int write_slot(struct ring *ring, const struct slot *slot) {
	int r;

	if (slot->piece.zero && slot->piece.size > 0)
		return add_zeros(ring, &slot->piece);
	r = flush_zeros(ring);
	if (r == 0 && slot->piece.size > 0)
		r = device_write(ring->device, slot->buffer, slot->piece.size, slot->piece.offset, &ring->fault);
	return r;
}

static void *write_slots(void *context) {
	struct ring *ring = context;
	bool last = false;

	for (unsigned i = 0; !last && ring->result == 0; i = (i + 1) % SLOTS) {
		struct slot *slot = &ring->slots[i];
		pthread_mutex_lock(&ring->lock);
		while (ring->filled == 0)
			pthread_cond_wait(&ring->changed, &ring->lock);
		pthread_mutex_unlock(&ring->lock);
		last = slot->piece.size == 0;
		ring->result = write_slot(ring, slot);
		pthread_mutex_lock(&ring->lock);
		ring->written += slot->piece.size;
		ring->failed = ring->result < 0;
		ring->filled--;
		pthread_cond_signal(&ring->changed);
		pthread_mutex_unlock(&ring->lock);
	}
	return NULL;
}

// Waits for a free slot. False when the writer has failed.
static bool slot_wait(struct ring *ring, uint64_t *ret_written) {
	bool usable;

	pthread_mutex_lock(&ring->lock);
	while (ring->filled == SLOTS && !ring->failed)
		pthread_cond_wait(&ring->changed, &ring->lock);
	usable = !ring->failed;
	*ret_written = ring->written;
	pthread_mutex_unlock(&ring->lock);
	return usable;
}

static void slot_give(struct ring *ring) {
	pthread_mutex_lock(&ring->lock);
	ring->filled++;
	ring->next = (ring->next + 1) % SLOTS;
	pthread_cond_signal(&ring->changed);
	pthread_mutex_unlock(&ring->lock);
}

// A piece ends where the image does, perhaps within a sector: the rest of that sector is zero.
static void pad(struct slot *slot, uint32_t sector) {
	size_t over = slot->piece.size % sector;

	if (over == 0)
		return;
	memset(slot->buffer + slot->piece.size, 0, sector - over);
	slot->piece.size += sector - over;
}

static int check_place(const struct piece *piece, uint64_t bytes, struct fault *fault) {
	if (piece->offset >= bytes || piece->size > bytes - piece->offset)
		return fault_set(fault, CODE_INTEGRITY, "the image is larger than the %llu bytes that were promised",
				 (unsigned long long)bytes);
	return 0;
}

// Returns 0 also when the writer has failed: its fault is the one that counts.
static int read_pieces(struct ring *ring, struct image *image, uint64_t bytes, unsigned char *head, size_t *ret_head_size,
		       struct progress *progress, struct fault *fault) {
	uint64_t total = 0, written;

	for (;;) {
		struct slot *slot = &ring->slots[ring->next];
		int r;
		if (!slot_wait(ring, &written))
			return 0;
		progress_tick(progress, written);
		r = image->ops->next(image, slot->buffer, &slot->piece, fault);
		if (r == 0 && slot->piece.size == 0)
			break;
		if (r < 0 || (r = check_place(&slot->piece, bytes, fault)) < 0)
			return r;
		total += slot->piece.size;
		if (slot->piece.offset == 0) {
			memcpy(head, slot->buffer, slot->piece.zero ? 0 : slot->piece.size);
			*ret_head_size = slot->piece.size;
			continue;
		}
		pad(slot, ring->device->sector);
		slot_give(ring);
	}
	if (total != bytes)
		return fault_set(fault, CODE_INTEGRITY, "the image has %llu bytes, not the %llu that were promised",
				 (unsigned long long)total, (unsigned long long)bytes);
	return 0;
}

static int ring_init(struct ring *ring, struct device *device, struct fault *fault) {
	*ring = (struct ring){.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .device = device};
	for (size_t i = 0; i < SLOTS; i++)
		if (!(ring->slots[i].buffer = device_buffer(BLOCK)))
			return fault_errno(fault, CODE_FAILED, ENOMEM, "write buffers");
	return 0;
}

static void ring_free(struct ring *ring) {
	for (size_t i = 0; i < SLOTS; i++)
		free(ring->slots[i].buffer);
}

// Tells the writer that there is no more, and waits for it.
static void finish(struct ring *ring, pthread_t writer) {
	uint64_t written;
	if (slot_wait(ring, &written)) {
		ring->slots[ring->next].piece = (struct piece){0};
		slot_give(ring);
	}
	pthread_join(writer, NULL);
}

int pipeline_run(struct image *image, struct device *device, uint64_t bytes, unsigned char *head, size_t *ret_head_size,
		 struct progress *progress, struct fault *fault) {
	cleanup_with(ring_free) struct ring ring;
	pthread_t writer;
	int r;

	r = ring_init(&ring, device, fault);
	if (r < 0)
		return r;
	r = pthread_create(&writer, NULL, write_slots, &ring);
	if (r != 0)
		return fault_errno(fault, CODE_FAILED, r, "thread");
	r = read_pieces(&ring, image, bytes, head, ret_head_size, progress, fault);
	finish(&ring, writer);
	if (ring.result < 0) {
		*fault = ring.fault;
		return ring.result;
	}
	return r;
}
