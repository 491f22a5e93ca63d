// SPDX-License-Identifier: Apache-2.0
// A receiver of multicast: steps of 8 bytes, each a packet, a moment or what its owner does. Its sums always add up,
// and what it requests is a NEED that a sender accepts.
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "multicast/gather_need.h"

#define CHUNKS 12u
#define HELD 800u // symbols of room

static struct chunk chunks[CHUNKS];
static const struct index image = {.chunk_count = CHUNKS, .chunks = chunks};
static const struct session session = {.id = {1}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sums(const struct gather *gather) {
	uint32_t left = 0, asked = 0, held = 0;

	for (uint32_t i = 0; i < CHUNKS; i++) {
		left += bitmap_has(gather->wanted, i);
		asked += bitmap_has(gather->ask, i);
		if (gather->slots[i] && !bitmap_has(gather->wanted, i))
			abort();
	}
	for (const struct slot *slot = gather->open; slot; slot = slot->next)
		held += slot->symbols;
	for (const struct slot *slot = gather->ready; slot; slot = slot->next)
		held += slot->symbols;
	if (left != gather->left || asked != gather->ask_count || held + gather->room != HELD)
		abort();
}

static void check_need(const struct packet *need) {
	static struct packet again;
	uint8_t bytes[PACKET_MAX];
	size_t size = packet_encode(need, &session, bytes);

	if (packet_decode(bytes, size, &session, &again) != PACKET_TAKEN)
		abort();
}

// A packet that the decoder would let through.
static void give(struct gather *gather, const uint8_t *step, int64_t now) {
	static const uint8_t payload[SYMBOL] = {1, 2, 3};
	static struct packet packet;
	uint8_t bytes[PACKET_MAX];
	uint32_t chunk = step[1];

	packet = (struct packet){.type = PACKET_DATA, .sequence = gather->sequence + (uint32_t)(int8_t)step[5]};
	packet.data = (struct data_packet){.chunk = chunk, .block = step[2], .symbol = step[3], .payload = payload};
	packet.data.turn = (uint16_t)(gather->turn.number + (int8_t)step[4]);
	packet.data.symbols = (uint16_t)frame_symbols(chunks[chunk % CHUNKS].frame + step[6]);
	packet.flags = is_parity(step[3]) ? FLAG_REPAIR : 0;
	packet_encode(&packet, &session, bytes);
	if (packet_decode(bytes, sizeof(bytes), &session, &packet) == PACKET_TAKEN)
		gather_data(gather, packet.sequence, &packet.data, now);
}

static void announce(struct gather *gather, const uint8_t *step, int64_t now) {
	static struct packet packet;

	packet = (struct packet){.type = PACKET_ANNOUNCE, .flags = step[1] & FLAG_IDLE, .sequence = get_le32(step + 2)};
	packet.announce.turn = (uint16_t)get_le16(step + 6);
	packet.announce.interval = (uint16_t)(INTERVAL_MIN + step[1]);
	gather_announce(gather, &packet, now);
}

static void do_step(struct gather *gather, const uint8_t *step, int64_t *now) {
	static struct packet need;
	struct slot *slot;

	switch (step[0] % 8) {
	case 0: announce(gather, step, *now); break;
	case 1: *now += (int64_t)get_le16(step + 1) * MILLISECOND; break;
	case 2: gather_drop(gather, step[1] % CHUNKS); break;
	case 3:
		if ((slot = gather_take(gather))) {
			slot_restore(slot);
			gather_return(gather, slot);
		}
		break;
	case 4:
		if (gather_need(gather, *now, &need))
			check_need(&need);
		break;
	case 5:
		if (step[1] % 8 == 0)
			gather_reset(gather, *now);
		break;
	default: give(gather, step, *now);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct gather_order order = {.index = &image, .client = 1, .room = HELD};
	struct gather *gather = NULL;
	struct fault fault;
	int64_t now = 0;

	for (uint32_t i = 0; i < CHUNKS; i++)
		chunks[i].frame = i < 6 ? i + 1 : i < 10 ? 3 * SYMBOL : i == 10 ? 130 * SYMBOL : FRAME_MAX;
	if (gather_open(&order, 0, &gather, &fault) < 0)
		return 0;
	for (; size >= 8; data += 8, size -= 8) {
		do_step(gather, data, &now);
		check_sums(gather);
	}
	gather_close(&gather);
	return 0;
}
