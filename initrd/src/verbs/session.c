// SPDX-License-Identifier: Apache-2.0
#include "verbs/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "multicast/parity.h"
#include "net/udp.h"

#define BATCH_TIME (MILLISECOND / 2)
#define LATE (5 * MILLISECOND)
#define IDLE_STEP (10 * MILLISECOND)

int sending_open(struct opened *opened, int interface, uint32_t cap, uint32_t from, const char *secret,
		 struct sending **ret, struct fault *fault) {
	cleanup_with(sending_close) struct sending *s = calloc(1, sizeof(*s));
	struct carousel_order order = {.cap = cap, .from = from};
	const uint8_t *digest = order.digest;

	if (!s || getrandom(&order.seed, sizeof(order.seed), 0) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "send");
	memcpy(order.digest, opened->image.trailer.digest, HASH);
	s->opened = *opened;
	*opened = (struct opened){0};
	s->frame = calloc(SYMBOLS_MAX, SYMBOL);
	s->interface = interface;
	s->group = place_group(digest);
	memcpy(s->session.id, digest, SESSION_ID);
	s->session.has_key = secret;
	if (!s->frame || (secret && place_key(secret, strlen(secret), digest, s->session.key) < 0))
		return fault_errno(fault, CODE_FAILED, ENOMEM, "send");
	order.index = &s->opened.image.index;
	for (uint32_t i = 0; i < order.index->chunk_count; i++)
		s->symbols += frame_symbols(order.index->chunks[i].frame);
	s->paid = clock_now();
	if (carousel_open(&order, s->paid, &s->carousel, fault) < 0)
		return -ENOMEM;
	*ret = steal_pointer(&s);
	return 0;
}

void sending_close(struct sending **sending) {
	if (*sending) {
		carousel_close(&(*sending)->carousel);
		opened_close(&(*sending)->opened);
		free((*sending)->frame);
	}
	free(*sending);
	*sending = NULL;
}

void sending_note(struct sending *s, const struct stats_packet *stats) {
	s->done++;
	s->rejected += stats->rejected;
	s->multicast_bytes += stats->multicast_bytes;
	s->http_bytes += stats->http_bytes;
}

static int read_frame(struct sending *s, uint32_t chunk, struct fault *fault) {
	const struct chunk *c = &s->opened.image.index.chunks[chunk];
	size_t padded = (size_t)frame_symbols(c->frame) * SYMBOL;
	ssize_t n;

	if (s->symbols_of == chunk + 1)
		return 0;
	n = pread(s->opened.source->fd, s->frame, c->frame, (off_t)c->at);
	if (n != (ssize_t)c->frame)
		return fault_set(fault, CODE_FAILED, "%s: bytes %llu to %llu cannot be read", opened_name(&s->opened),
				 (unsigned long long)c->at, (unsigned long long)(c->at + c->frame - 1));
	memset(s->frame + c->frame, 0, padded - c->frame);
	s->symbols_of = chunk + 1;
	return 0;
}

static int make_packet(struct sending *s, uint32_t sequence, struct data_packet *data, uint8_t *ret,
		       struct fault *fault) {
	uint32_t blocks = block_count(data->symbols), k = block_size(data->symbols, data->block);
	struct packet packet = {.type = PACKET_DATA, .sequence = sequence};
	const uint8_t *block[BLOCK_MAX];
	uint8_t parity[SYMBOL];
	int r = read_frame(s, data->chunk, fault);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < k; i++)
		block[i] = s->frame + (size_t)(i * blocks + data->block) * SYMBOL;
	if (is_parity(data->symbol))
		parity_make(block, k, data->symbol, parity, SYMBOL);
	data->payload = is_parity(data->symbol) ? parity : block[data->symbol];
	packet.flags = is_parity(data->symbol) ? FLAG_REPAIR : 0;
	packet.data = *data;
	packet_encode(&packet, &s->session, ret);
	return 0;
}

static int send_data(struct sending *s, int fd, int64_t now, int64_t *ret_next, struct fault *fault) {
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
	*ret_next = count > 0 ? s->paid : now + IDLE_STEP;
	return r == 0 && count > 0 ? udp_send(fd, &s->group, s->interface, s->batch, PACKET_MAX, count, fault) : r;
}

int sending_step(struct sending *s, int fd, int64_t now, int64_t *ret_next, struct fault *fault) {
	uint8_t bytes[PACKET_MAX];
	struct packet announce;
	int r = send_data(s, fd, now, ret_next, fault);

	if (r == 0 && carousel_announce(s->carousel, now, &announce))
		r = udp_send(fd, &s->group, s->interface, bytes, packet_encode(&announce, &s->session, bytes), 1,
			     fault);
	return r;
}
