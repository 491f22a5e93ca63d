// SPDX-License-Identifier: Apache-2.0
#include "sender/transmission.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "multicast/parity.h"
#include "net/udp.h"

#define BATCH_TIME (2 * MILLISECOND)
#define LATE (5 * MILLISECOND)
#define IDLE_STEP (10 * MILLISECOND)

int transmission_open(struct image_file *file, int interface, uint32_t cap, uint32_t from, const char *secret,
		      struct transmission **ret, struct fault *fault) {
	cleanup_with(transmission_close) struct transmission *s = calloc(1, sizeof(*s));
	struct carousel_order order = {.cap = cap, .from = from};
	const uint8_t *digest = order.digest;

	if (!s || getrandom(&order.seed, sizeof(order.seed), 0) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "send");
	memcpy(order.digest, file->image.trailer.digest, HASH);
	s->file = *file;
	*file = (struct image_file){0};
	s->frame = calloc(SYMBOLS_MAX, SYMBOL);
	s->interface = interface;
	s->group = address_group(digest);
	memcpy(s->session.id, digest, SESSION_ID);
	s->session.has_key = secret;
	if (!s->frame || (secret && address_key(secret, strlen(secret), digest, s->session.key) < 0))
		return fault_errno(fault, CODE_FAILED, ENOMEM, "send");
	order.index = &s->file.image.index;
	for (uint32_t i = 0; i < order.index->chunk_count; i++)
		s->symbols += frame_symbols(order.index->chunks[i].frame);
	s->paid = clock_now();
	if (carousel_open(&order, s->paid, &s->carousel, fault) < 0)
		return -ENOMEM;
	*ret = steal_pointer(&s);
	return 0;
}

void transmission_close(struct transmission **sending) {
	if (*sending) {
		carousel_close(&(*sending)->carousel);
		image_file_close(&(*sending)->file);
		free((*sending)->frame);
	}
	free(*sending);
	*sending = NULL;
}

void transmission_note(struct transmission *s, const struct stats_packet *stats) {
	s->done++;
	s->rejected += stats->rejected;
	s->multicast_bytes += stats->multicast_bytes;
	s->http_bytes += stats->http_bytes;
}

// Bytes of the chunk's frame from `at` on, and zeros behind its end.
static int read_bytes(const struct transmission *s, uint32_t chunk, size_t at, size_t size, uint8_t *ret,
		      struct fault *fault) {
	const struct chunk *c = &s->file.image.index.chunks[chunk];
	size_t there = c->frame - at < size ? c->frame - at : size;

	if (pread(s->file.source->fd, ret, there, (off_t)(c->at + at)) != (ssize_t)there)
		return fault_set(fault, CODE_FAILED, "%s: bytes %llu to %llu cannot be read", image_file_name(&s->file),
				 (unsigned long long)(c->at + at), (unsigned long long)(c->at + at + there - 1));
	memset(ret + there, 0, size - there);
	return 0;
}

// Symbols of a turn alternate between its chunks: each is read alone.
static int read_symbol(const struct transmission *s, const struct data_packet *data, uint8_t *ret,
		       struct fault *fault) {
	size_t i = (size_t)data->symbol * block_count(data->symbols) + data->block;
	return read_bytes(s, data->chunk, i * SYMBOL, SYMBOL, ret, fault);
}

static int read_parity(struct transmission *s, const struct data_packet *data, uint8_t *ret, struct fault *fault) {
	uint32_t blocks = block_count(data->symbols), k = block_size(data->symbols, data->block);
	const uint8_t *block[BLOCK_MAX];
	int r = 0;

	if (s->symbols_of != data->chunk + 1)
		r = read_bytes(s, data->chunk, 0, (size_t)data->symbols * SYMBOL, s->frame, fault);
	if (r < 0)
		return r;
	s->symbols_of = data->chunk + 1;
	for (uint32_t i = 0; i < k; i++)
		block[i] = s->frame + (size_t)(i * blocks + data->block) * SYMBOL;
	parity_make(block, k, data->symbol, ret, SYMBOL);
	return 0;
}

static int make_packet(struct transmission *s, uint32_t sequence, struct data_packet *data, uint8_t *ret,
		       struct fault *fault) {
	bool repairs = is_parity(data->symbol);
	struct packet packet = {.type = PACKET_DATA, .flags = repairs ? FLAG_REPAIR : 0, .sequence = sequence};
	uint8_t payload[SYMBOL];
	int r = repairs ? read_parity(s, data, payload, fault) : read_symbol(s, data, payload, fault);

	if (r < 0)
		return r;
	packet.data = *data;
	packet.data.payload = payload;
	packet_encode(&packet, &s->session, ret);
	return 0;
}

static int send_data(struct transmission *s, int fd, int64_t now, int64_t *ret_next, struct fault *fault) {
	int64_t one = (int64_t)PACKET_MAX * 8 * MILLISECOND / s->carousel->rate; // of a packet, at that rate
	uint32_t most = (uint32_t)(BATCH_TIME / one + 1), count = 0;
	int r = 0;

	most = most < BATCH_MAX ? most : BATCH_MAX;
	if (now - s->paid > LATE + one)
		s->paid = now - LATE - one; // what was not sent in time is not made up for
	while (r == 0 && count < most && s->paid + one * count <= now) {
		struct data_packet data;
		uint32_t sequence;
		if (!carousel_next(s->carousel, now, &sequence, &data))
			break;
		r = make_packet(s, sequence, &data, s->batch + count++ * PACKET_MAX, fault);
	}
	s->paid += one * count;
	*ret_next = count > 0 ? s->paid + one * (most - 1) : now + IDLE_STEP; // a whole batch is due then
	return r == 0 && count > 0 ? udp_send(fd, &s->group, s->interface, s->batch, PACKET_MAX, count, fault) : r;
}

int transmission_step(struct transmission *s, int fd, int64_t now, int64_t *ret_next, struct fault *fault) {
	uint8_t bytes[PACKET_MAX];
	struct packet announce;
	int r = send_data(s, fd, now, ret_next, fault);

	if (r == 0 && carousel_announce(s->carousel, now, &announce))
		r = udp_send(fd, &s->group, s->interface, bytes, packet_encode(&announce, &s->session, bytes), 1,
			     fault);
	return r;
}
