// SPDX-License-Identifier: Apache-2.0
// A sender of multicast: NEEDs of up to seven entries, and moments. What it sends is what a receiver accepts, its sums
// add up, and no NEED makes it send more than it requests.
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "multicast/carousel_need.h"

#define CHUNKS 40u

static struct chunk chunks[CHUNKS];
static const struct index image = {.chunk_count = CHUNKS, .chunks = chunks};
static const struct session session = {.id = {0}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sums(const struct carousel *carousel) {
	uint32_t wanted = 0;

	for (uint32_t i = 0; i < CHUNKS; i++)
		wanted += bitmap_has(carousel->want, i);
	if (wanted != carousel->want_count || carousel->owing_count > KEPT * BLOCKS_MAX)
		abort();
}

static void check_packet(struct packet *packet) {
	static const uint8_t payload[SYMBOL];
	static struct packet again;
	uint8_t bytes[PACKET_MAX];
	size_t size;

	if (packet->type == PACKET_DATA) {
		packet->flags = is_parity(packet->data.symbol) ? FLAG_REPAIR : 0;
		packet->data.payload = payload;
	}
	size = packet_encode(packet, &session, bytes);
	if (packet_decode(bytes, size, &session, &again) != PACKET_TAKEN)
		abort();
	if (packet->type == PACKET_DATA &&
	    (packet->data.chunk >= CHUNKS || packet->data.symbols != frame_symbols(chunks[packet->data.chunk].frame)))
		abort();
}

// The entries come from bytes as they would from a packet that the decoder let through.
static void give(struct carousel *carousel, const uint8_t *data, size_t count, int64_t now) {
	static struct packet need, answer;

	need = (struct packet){.type = PACKET_NEED, .sequence = carousel->sequence - data[1]};
	need.need.client = 1u + data[2] % 8;
	need.need.received = data[3] * 16u;
	need.need.lost = data[4];
	need.need.dropped = data[5] / 128;
	need.need.expected = data[5] % 128;
	for (size_t i = 0; i < count; i++) {
		const uint8_t *at = data + 8 + 8 * i;
		struct need_entry entry = {.chunk = at[0] % 64u};
		if (at[1] % 2) {
			entry.count = 1 + get_le32(at + 4) % (PACKET_CHUNKS_MAX - entry.chunk);
		} else {
			entry.block = at[2] % BLOCKS_MAX;
			entry.missing = (uint8_t)(1 + at[3] % PARITY_MAX);
		}
		need.need.entries[need.need.entry_count++] = entry;
	}
	if (carousel_need(carousel, &need, now, &answer))
		check_packet(&answer);
}

static void send(struct carousel *carousel, uint32_t most, int64_t now) {
	static struct packet packet;

	while (most-- > 0) {
		packet = (struct packet){.type = PACKET_DATA};
		if (!carousel_next(carousel, now, &packet.sequence, &packet.data))
			break;
		check_packet(&packet);
	}
	packet = (struct packet){0};
	if (carousel_announce(carousel, now, &packet))
		check_packet(&packet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct carousel_order order = {.index = &image, .cap = 1000, .from = 2};
	struct carousel *carousel = NULL;
	struct fault fault;
	int64_t now = 0;

	for (uint32_t i = 0; i < CHUNKS; i++)
		chunks[i].frame = i < 34 ? i + 1 : i < 38 ? 130 * SYMBOL : FRAME_MAX;
	if (carousel_open(&order, 0, &carousel, &fault) < 0)
		return 0;
	while (size >= 8) {
		size_t count = data[0] % 8 < (size - 8) / 8 ? data[0] % 8 : (size - 8) / 8;
		give(carousel, data, count, now);
		now += data[6] * 4 * MILLISECOND;
		send(carousel, data[7], now);
		check_sums(carousel);
		data += 8 + 8 * count;
		size -= 8 + 8 * count;
	}
	send(carousel, CHUNKS * SYMBOLS_MAX * 3, now + 60 * SECOND);
	if (carousel_is_sending(carousel) && carousel->clients.present >= order.from)
		abort();
	carousel_close(&carousel);
	return 0;
}
