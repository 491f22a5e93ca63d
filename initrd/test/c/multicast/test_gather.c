// SPDX-License-Identifier: Apache-2.0
// The receiver of multicast, packet by packet.
#include <stdlib.h>

#include "multicast/gather_need.h"
#include "multicast/parity.h"
#include "tap.h"

#define CHUNKS 400u
#define LONG 200u // symbols of chunk 1: two blocks of 100
#define MS MILLISECOND

static struct chunk chunks[CHUNKS];
static const struct index image = {.chunk_count = CHUNKS, .chunks = chunks};
static struct gather *gather;
static struct packet need;
static uint8_t payload[SYMBOL];
static uint32_t sequence;
static uint16_t interval = INTERVAL_MIN;

static void begin(uint32_t room, const uint8_t *wanted) {
	struct gather_order order = {.index = &image, .wanted = wanted, .client = 9, .room = room};
	struct fault fault;

	gather_close(&gather);
	sequence = 1000;
	if (gather_open(&order, 0, &gather, &fault) < 0)
		abort();
}

static bool give(uint16_t turn, uint32_t chunk, uint32_t i, int64_t now) {
	uint32_t n = frame_symbols(chunks[chunk % CHUNKS].frame), blocks = block_count(n);
	struct data_packet data = {.turn = turn,
				   .chunk = chunk,
				   .symbols = (uint16_t)n,
				   .block = (uint8_t)(i % blocks),
				   .symbol = (uint8_t)(i / blocks),
				   .payload = payload};
	return gather_data(gather, ++sequence, &data, now);
}

static void give_some(uint16_t turn, uint32_t chunk, uint32_t from, uint32_t end) {
	for (uint32_t i = from; i < end; i++)
		give(turn, chunk, i, 0);
}

static void announce(uint8_t flags, uint16_t turn, uint32_t at, int64_t now) {
	static struct packet packet;

	packet = (struct packet){.type = PACKET_ANNOUNCE, .flags = flags, .sequence = at};
	packet.announce = (struct announce_packet){.turn = turn, .interval = interval, .rate = 1};
	gather_announce(gather, &packet, now);
}

// The entries of the next NEED at that time: "FROM+COUNT CHUNK/BLOCK:MISSING ...". "-": there is none.
static const char *asks(int64_t now) {
	static char text[8192];
	int at = 0;

	gather->next_need = now;
	if (!gather_need(gather, now, &need))
		return "-";
	text[0] = 0;
	for (uint32_t i = 0; i < need.need.entry_count; i++) {
		const struct need_entry *e = &need.need.entries[i];
		size_t room = sizeof(text) - (size_t)at;
		at += e->missing ? snprintf(text + at, room, "%u/%u:%u ", e->chunk, e->block, e->missing)
				 : snprintf(text + at, room, "%u+%u ", e->chunk, e->count);
	}
	return text;
}

static void test_join(void) {
	uint8_t wanted[CHUNKS / 8] = {0x0b};

	wanted[49] = 0x80;
	begin(ROOM, NULL);
	same(asks(0), "0+400 ", "all is requested at first");
	ok(need.need.client == 9 && need.sequence == 0 && need.need.room == ROOM, "by a client that saw nothing");
	same(asks(50 * MS), "-", "and not again at once");
	same(asks(100 * MS), "0+400 ", "but after 100 ms");
	begin(ROOM, wanted);
	same(asks(0), "0+2 3+1 399+1 ", "only what is wanted");
	memset(wanted, 0x55, sizeof(wanted));
	begin(ROOM, wanted);
	asks(0);
	ok(need.need.entry_count == ENTRIES_MAX && need.need.entries[169].chunk == 338, "170 entries");
	asks(20 * MS);
	ok(need.need.entry_count == 30 && need.need.entries[0].chunk == 340, "and the other 30 in the next NEED");
	memset(wanted, 0, sizeof(wanted));
	begin(ROOM, wanted);
	same(asks(0), "-", "nothing is wanted");
}

static void test_refused(void) {
	struct data_packet data = {.chunk = CHUNKS, .symbols = 1, .payload = payload};

	begin(ROOM, NULL);
	ok(!gather_data(gather, 5, &data, 0), "a chunk that the index has not");
	data = (struct data_packet){.chunk = 1, .symbols = LONG + 1, .payload = payload};
	ok(!gather_data(gather, 5, &data, 0), "a frame of another size");
	ok(gather->counts.refused == 2 && gather->counts.received == 0 && !gather->started,
	   "change nothing but a count");
}

static void test_parity(void) {
	begin(ROOM, NULL);
	asks(0);
	give_some(1, 1, 0, 150);
	same(asks(29 * MS), "", "the sender learns that it is heard");
	ok(need.sequence == sequence, "by the sequence");
	same(asks(30 * MS), "-", "a chunk in its turn is not requested");
	give(2, 2, 0, 31 * MS);
	same(asks(32 * MS), "1/0:25 1/1:25 ", "when it has passed, what its blocks lack");
	same(asks(60 * MS), "-", "not again at once");
	give(2, 2, 1, 130 * MS);
	same(asks(132 * MS), "1/0:25 1/1:25 ", "but after 100 ms");
	give_some(2, 1, 150, 199);
	give(3, 3, 0, 140 * MS);
	same(asks(235 * MS), "1/1:1 ", "a block that is complete is not");
}

static void test_missed(void) {
	begin(ROOM, NULL);
	asks(0);
	give(1, 2, 0, 0);
	give(1, 6, 0, 0);
	give(2, 8, 0, 0);
	same(asks(40 * MS), "2/0:1 6/0:1 3+3 ", "chunks of which nothing came, among others that did");
	begin(LONG, NULL);
	asks(0);
	give(1, 1, 0, 0);
	give(1, 2, 0, 0);
	give(1, 2, 1, 0);
	ok(gather->counts.dropped == 2 && gather->room == 0, "no room for a second chunk");
	give(2, 7, 0, 0);
	same(asks(40 * MS), "1/0:99 1/1:100 2+1 ", "which is requested when it has passed");
	ok(need.need.dropped == 3 && need.need.room == 0, "and reported");
	begin(ROOM, NULL);
	asks(0);
	give_some(1, 1, 100, 200);
	ok(gather->open == NULL && gather->counts.dropped == 0, "a turn that was met in its middle is left out");
	give(2, 7, 0, 0);
	same(asks(40 * MS), "1+1 ", "and its chunks requested");
}

static void test_idle(void) {
	begin(ROOM, NULL);
	asks(0);
	give_some(1, 1, 0, 199);
	gather->left = 2; // as if only 0 and 1 were wanted
	memset(gather->wanted, 0, CHUNKS / 8);
	gather->wanted[0] = 3;
	announce(0, 1, sequence, 90 * MS);
	asks(98 * MS);
	same(asks(99 * MS), "-", "the sender is busy");
	announce(FLAG_IDLE, 1, sequence, 100 * MS);
	same(asks(100 * MS), "1/1:1 0+1 ", "all that is missing, when it is idle");
	announce(0, 1, sequence, 101 * MS);
	give(1, 1, 0, 200 * MS);
	same(asks(299 * MS), "-", "nothing comes for 99 ms");
	same(asks(301 * MS), "1/1:1 0+1 ", "nor for 101 ms");
}

// Anybody can announce it where there is no key.
static void test_long_interval(void) {
	begin(ROOM, NULL);
	asks(0);
	give_some(1, 1, 0, 199);
	gather_drop(gather, 0);
	interval = INTERVAL_MAX;
	announce(0, 1, sequence, 0);
	interval = INTERVAL_MIN;
	asks(540 * MS);
	same(asks(559 * MS), "-", "the sender may be at it");
	same(asks(561 * MS), "1/1:1 2+398 ", "a silence is noticed before it is one of the sender");
	same(asks(1060 * MS), "-", "not again at once");
	same(asks(1062 * MS), "1/1:1 2+398 ", "but after 500 ms");
}

static void test_sequence(void) {
	begin(ROOM, NULL);
	give(1, 1, 0, 0);
	sequence += 10;
	give(1, 1, 1, 0);
	ok(gather->counts.lost == 10, "a gap is a loss");
	sequence -= 6;
	give(1, 1, 2, 0);
	ok(gather->counts.lost == 9, "a late packet is none");
	announce(0, 1, sequence + 5 + 3, 0);
	ok(gather->counts.lost == 12, "what was announced and did not come is");
	sequence += 1u << 30;
	give(900, 1, 3, 0);
	ok(gather->counts.lost == 12 && gather->turn.number == 900, "another sender");
	sequence = 3;
	give(60000, 1, 4, 0);
	ok(gather->counts.lost == 12 && gather->turn.number == 60000, "and another one");
	begin(ROOM, NULL);
	sequence = UINT32_MAX - 1;
	give(65535, 1, 0, 0);
	give(0, 1, 1, 0);
	give(0, 1, 2, 0);
	ok(gather->counts.lost == 0 && gather->sequence == 1 && gather->turn.number == 0,
	   "numbers start again after their last");
}

static void test_frames(void) {
	static uint8_t frame[LONG][SYMBOL], parity[SYMBOL];
	const uint8_t *block[100];
	struct slot *slot;

	begin(ROOM, NULL);
	for (uint32_t i = 0; i < LONG; i++)
		for (uint32_t at = 0; at < SYMBOL; at++)
			frame[i][at] = (uint8_t)(i * 7 + at * 13 + i * at);
	for (uint32_t i = 0; i < 100; i++)
		block[i] = frame[2 * i];
	for (uint32_t i = 0; i < LONG; i++) {
		memcpy(payload, frame[i], SYMBOL);
		if (i % 2 || i > 60)
			give(1, 1, i, 0);
	}
	ok(!gather_take(gather) && gather->left == CHUNKS, "not complete yet");
	for (uint32_t p = 254; p > 254 - 20; p--) {
		parity_make(block, 100, (uint8_t)p, parity, SYMBOL);
		struct data_packet data = {
			.turn = 2, .chunk = 1, .symbols = LONG, .symbol = (uint8_t)p, .payload = parity};
		gather_data(gather, ++sequence, &data, 0);
		gather_data(gather, ++sequence, &data, 0);
	}
	ok(gather->counts.duplicate == 20, "parity that came twice");
	for (uint32_t i = 10; i <= 30; i++) {
		memcpy(payload, frame[2 * i], SYMBOL);
		give(3, 1, 2 * i, 0); // its place may hold parity
	}
	slot = gather_take(gather);
	ok(slot && !gather_take(gather) && gather->left == CHUNKS - 1, "complete");
	ok(slot && slot_restore(slot) == 20 && !memcmp(slot->frame, frame, sizeof(frame)), "as it was sent");
	ok(gather->room == ROOM - LONG, "its room is taken");
	if (slot)
		gather_return(gather, slot);
	ok(gather->room == ROOM, "until it is returned");
	give(4, 1, 0, 0);
	ok(!gather->open && gather->room == ROOM, "and it is not opened again");
}

static void test_drop(void) {
	begin(ROOM, NULL);
	give_some(1, 1, 0, 50);
	gather_drop(gather, 1);
	gather_drop(gather, 1);
	gather_drop(gather, 2);
	ok(gather->left == CHUNKS - 2 && gather->room == ROOM, "chunks that HTTP fetches");
	give(1, 1, 60, 0);
	ok(gather->room == ROOM && gather->counts.duplicate == 1, "are not taken");
	same(asks(1 * SECOND), "0+1 3+397 ", "nor requested");
}

static void test_reset(void) {
	struct slot *slot;

	begin(ROOM, NULL);
	give_some(1, 1, 0, 50);
	give(1, 0, 0, 0);
	give(1, 0, 1, 0); // complete
	gather_drop(gather, 2);
	gather_alive(gather, 1 * SECOND, &need);
	ok(need.need.entry_count == 0 && need.need.client == 9 && need.need.received == 52, "alive, without a request");
	gather_reset(gather, 5 * SECOND);
	ok(!gather->open && gather->room == ROOM - 2 && gather->left == CHUNKS - 2, "what is open is dropped");
	same(asks(5 * SECOND), "1+1 3+397 ", "and what is missing requested");
	sequence += 3000;
	give(900, 1, 0, 5 * SECOND);
	ok(gather->counts.lost == 0 && gather->verdict == GATHER_STAYS, "what was sent meanwhile is not lost");
	slot = gather_take(gather);
	ok(slot && gather->room == ROOM - 2 - LONG, "what was complete is there");
	if (slot)
		gather_return(gather, slot);
}

static void test_verdict(void) {
	begin(ROOM, NULL);
	for (uint32_t i = 0; i < 5000; i++)
		if (i % 10)
			give(1, 1, 0, 0);
		else
			sequence++;
	ok(gather->verdict == GATHER_STAYS, "a tenth is lost");
	for (uint32_t i = 0; i < 10000; i++)
		if (i % 4)
			give(1, 1, 0, 0);
		else
			sequence++;
	ok(gather->verdict == GATHER_LOSES, "a quarter is lost");
	begin(0, NULL);
	for (uint32_t i = 0; i < 5000; i++)
		give(1, 1, 0, 0);
	ok(gather->verdict == GATHER_LACKS_ROOM && gather->counts.dropped == 5000, "there is no room");
}

int main(void) {
	for (uint32_t i = 0; i < CHUNKS; i++)
		chunks[i].frame = i == 1 ? LONG * SYMBOL : 2 * SYMBOL - 5;
	test_join();
	test_refused();
	test_parity();
	test_missed();
	test_idle();
	test_long_interval();
	test_sequence();
	test_frames();
	test_drop();
	test_reset();
	test_verdict();
	gather_close(&gather);
	return tap_done();
}
