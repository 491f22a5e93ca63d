// SPDX-License-Identifier: Apache-2.0
#include "multicast/packet.h"

#include "base/bytes.h"

#define HEADER 32u
#define TAG 28u // offset
#define PARITY_ENTRY (1u << 31)

static const uint8_t magic[4] = "SLM1";

static uint32_t tag_of(const uint8_t *data, size_t size, const struct session *session) {
	uint8_t header[HEADER];

	if (!session->has_key)
		return 0;
	memcpy(header, data, HEADER);
	put_le32(header + TAG, 0);
	return (uint32_t)siphash(session->key, header, HEADER, data + HEADER, size - HEADER);
}

static size_t need_size(uint32_t entries) {
	size_t size = HEADER + 16 + 8 * (size_t)entries;
	return size > NEED_MIN ? size : NEED_MIN;
}

// Bytes of a packet of that type with that many entries. 0: there is none.
static size_t size_of(uint8_t type, uint32_t entries) {
	switch (type) {
	case PACKET_DATA: return HEADER + SYMBOL;
	case PACKET_NEED: return entries <= ENTRIES_MAX ? need_size(entries) : 0;
	case PACKET_ANNOUNCE: return HEADER + 48;
	case PACKET_STATS: return HEADER + 40;
	default: return 0;
	}
}

static enum packet_refusal check_frame(const uint8_t *data, size_t size, const struct session *session) {
	if (size < HEADER || size > PACKET_MAX)
		return REFUSED_SIZE;
	if (memcmp(data, magic, sizeof(magic)) != 0)
		return REFUSED_MAGIC;
	if (data[4] < PACKET_DATA || data[4] > PACKET_STATS)
		return REFUSED_TYPE;
	if (size != size_of(data[4], get_le16(data + 6)))
		return REFUSED_SIZE;
	if (memcmp(data + 8, session->id, SESSION_ID) != 0)
		return REFUSED_SESSION;
	return get_le32(data + TAG) == tag_of(data, size, session) ? PACKET_TAKEN : REFUSED_TAG;
}

static bool read_data(const uint8_t *data, uint8_t flags, struct data_packet *ret) {
	*ret = (struct data_packet){
		.turn = (uint16_t)get_le16(data + 6),
		.chunk = get_le32(data + 20),
		.block = data[24],
		.symbol = data[25],
		.symbols = (uint16_t)get_le16(data + 26),
		.payload = data + HEADER,
	};
	if (ret->chunk >= PACKET_CHUNKS_MAX || ret->symbols == 0 || ret->symbols > SYMBOLS_MAX ||
	    ret->block >= block_count(ret->symbols))
		return false;
	if (is_parity(ret->symbol))
		return ret->symbol < SYMBOL_END && flags == FLAG_REPAIR;
	return ret->symbol < block_size(ret->symbols, ret->block) && flags == 0;
}

static bool read_entry(const uint8_t *data, struct need_entry *ret) {
	uint32_t second = get_le32(data + 4);

	*ret = (struct need_entry){.chunk = get_le32(data)};
	if (ret->chunk >= PACKET_CHUNKS_MAX)
		return false;
	if (!(second & PARITY_ENTRY)) {
		ret->count = second;
		return ret->count > 0 && ret->count <= PACKET_CHUNKS_MAX - ret->chunk;
	}
	ret->block = (uint8_t)second;
	ret->missing = (uint8_t)(second >> 8);
	return (second & ~PARITY_ENTRY) >> 16 == 0 && ret->block < BLOCKS_MAX && ret->missing > 0 &&
	       ret->missing <= PARITY_MAX;
}

static bool read_need(const uint8_t *data, size_t size, uint8_t flags, struct need_packet *ret) {
	size_t at = HEADER + 16;

	ret->client = get_le32(data + 20);
	ret->received = get_le32(data + 32);
	ret->lost = get_le32(data + 36);
	ret->dropped = get_le32(data + 40);
	ret->room = (uint16_t)get_le16(data + 44);
	ret->expected = (uint16_t)get_le16(data + 46);
	ret->entry_count = (uint16_t)get_le16(data + 6);
	if (flags || ret->client == 0 || get_le32(data + 24) != 0)
		return false;
	for (uint32_t i = 0; i < ret->entry_count; i++, at += 8)
		if (!read_entry(data + at, &ret->entries[i]))
			return false;
	return at == size || is_zero(data + at, size - at);
}

static bool read_announce(const uint8_t *data, uint8_t flags, struct announce_packet *ret) {
	*ret = (struct announce_packet){
		.turn = (uint16_t)get_le16(data + 6),
		.cursor = get_le32(data + 20),
		.rate = get_le32(data + 64),
		.clients = get_le32(data + 68),
		.interval = (uint16_t)get_le16(data + 72),
		.client = get_le32(data + 76),
	};
	memcpy(ret->digest, data + HEADER, HASH);
	if (flags & ~(FLAG_IDLE | FLAG_ALONE | FLAG_LEAVE) || (flags & FLAG_ALONE && flags & FLAG_LEAVE) ||
	    (flags & (FLAG_ALONE | FLAG_LEAVE) && ret->client == 0))
		return false;
	return get_le32(data + 24) == 0 && get_le16(data + 74) == 0 && ret->cursor <= PACKET_CHUNKS_MAX &&
	       memcmp(ret->digest, data + 8, SESSION_ID) == 0 && ret->rate > 0 && ret->rate <= RATE_MAX &&
	       ret->interval >= INTERVAL_MIN && ret->interval <= INTERVAL_MAX;
}

static bool read_stats(const uint8_t *data, uint8_t flags, struct stats_packet *ret) {
	*ret = (struct stats_packet){
		.client = get_le32(data + 20),
		.ms = get_le32(data + 32),
		.lost = get_le32(data + 36),
		.duplicate = get_le32(data + 40),
		.dropped = get_le32(data + 44),
		.rejected = get_le32(data + 48),
		.parity = get_le32(data + 52),
		.multicast_bytes = get_le64(data + 56),
		.http_bytes = get_le64(data + 64),
	};
	return flags == 0 && ret->client != 0 && get_le16(data + 6) == 0 && get_le32(data + 16) == 0 &&
	       get_le32(data + 24) == 0;
}

static bool read_fields(const uint8_t *data, size_t size, struct packet *ret) {
	ret->type = data[4];
	ret->flags = data[5];
	ret->sequence = get_le32(data + 16);
	switch (ret->type) {
	case PACKET_DATA: return read_data(data, ret->flags, &ret->data);
	case PACKET_NEED: return read_need(data, size, ret->flags, &ret->need);
	case PACKET_ANNOUNCE: return read_announce(data, ret->flags, &ret->announce);
	default: return read_stats(data, ret->flags, &ret->stats);
	}
}

const uint8_t *packet_session(const uint8_t *data, size_t size) { return size >= HEADER ? data + 8 : NULL; }

enum packet_refusal packet_decode(const uint8_t *data, size_t size, const struct session *session, struct packet *ret) {
	enum packet_refusal refusal = check_frame(data, size, session);

	if (refusal == PACKET_TAKEN && !read_fields(data, size, ret))
		refusal = REFUSED_FIELD;
	return refusal;
}

static void write_data(const struct data_packet *packet, uint8_t *ret) {
	put_le16(ret + 6, packet->turn);
	put_le32(ret + 20, packet->chunk);
	ret[24] = packet->block;
	ret[25] = packet->symbol;
	put_le16(ret + 26, packet->symbols);
	memcpy(ret + HEADER, packet->payload, SYMBOL);
}

static void write_need(const struct need_packet *packet, uint8_t *ret) {
	put_le16(ret + 6, packet->entry_count);
	put_le32(ret + 20, packet->client);
	put_le32(ret + 32, packet->received);
	put_le32(ret + 36, packet->lost);
	put_le32(ret + 40, packet->dropped);
	put_le16(ret + 44, packet->room);
	put_le16(ret + 46, packet->expected);
	for (uint32_t i = 0; i < packet->entry_count; i++) {
		const struct need_entry *entry = &packet->entries[i];
		put_le32(ret + 48 + 8 * i, entry->chunk);
		put_le32(ret + 52 + 8 * i,
			 entry->missing ? PARITY_ENTRY | (uint32_t)entry->missing << 8 | entry->block : entry->count);
	}
}

static void write_announce(const struct announce_packet *packet, uint8_t *ret) {
	put_le16(ret + 6, packet->turn);
	put_le32(ret + 20, packet->cursor);
	memcpy(ret + HEADER, packet->digest, HASH);
	put_le32(ret + 64, packet->rate);
	put_le32(ret + 68, packet->clients);
	put_le16(ret + 72, packet->interval);
	put_le32(ret + 76, packet->client);
}

static void write_stats(const struct stats_packet *packet, uint8_t *ret) {
	put_le32(ret + 20, packet->client);
	put_le32(ret + 32, packet->ms);
	put_le32(ret + 36, packet->lost);
	put_le32(ret + 40, packet->duplicate);
	put_le32(ret + 44, packet->dropped);
	put_le32(ret + 48, packet->rejected);
	put_le32(ret + 52, packet->parity);
	put_le64(ret + 56, packet->multicast_bytes);
	put_le64(ret + 64, packet->http_bytes);
}

size_t packet_encode(const struct packet *packet, const struct session *session, uint8_t ret[PACKET_MAX]) {
	uint32_t entries = packet->type == PACKET_NEED ? packet->need.entry_count : 0;
	size_t size = size_of((uint8_t)packet->type, entries);

	memset(ret, 0, packet->type == PACKET_DATA ? HEADER : size);
	memcpy(ret, magic, sizeof(magic));
	ret[4] = (uint8_t)packet->type;
	ret[5] = packet->flags;
	memcpy(ret + 8, session->id, SESSION_ID);
	put_le32(ret + 16, packet->sequence);
	switch (packet->type) {
	case PACKET_DATA: write_data(&packet->data, ret); break;
	case PACKET_NEED: write_need(&packet->need, ret); break;
	case PACKET_ANNOUNCE: write_announce(&packet->announce, ret); break;
	case PACKET_STATS: write_stats(&packet->stats, ret); break;
	}
	put_le32(ret + TAG, tag_of(ret, size, session));
	return size;
}

const char *refusal_name(enum packet_refusal refusal) {
	static const char *const names[REFUSALS] = {"taken", "size", "magic", "type", "session", "tag", "field"};
	return names[refusal];
}
