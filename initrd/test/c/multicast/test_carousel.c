// SPDX-License-Identifier: Apache-2.0
// The sender of multicast, NEED by NEED.
#include <stdlib.h>

#include "base/clock.h"
#include "multicast/carousel_need.h"
#include "tap.h"

#define CHUNKS 5000u
#define LONG 200u // symbols of the first 100 chunks: two blocks of 100
#define CAP 80000u
#define MS MILLISECOND

static struct chunk chunks[CHUNKS];
static const struct index image = {.chunk_count = CHUNKS, .chunks = chunks};
static struct carousel *carousel;
static struct packet answer;
static struct data_packet data;
static uint32_t sequence;

static void begin(uint32_t from) {
	struct carousel_order order = {.index = &image, .cap = CAP, .from = from, .seed = UINT64_C(0xfffffffff0)};
	struct fault fault;

	carousel_close(&carousel);
	if (carousel_open(&order, 0, &carousel, &fault) < 0)
		abort();
	sequence = 0xfffffff0;
}

static uint16_t expected; // in NEEDs

static bool needs(uint32_t client, uint32_t at, int64_t now, size_t count, const struct need_entry *entries) {
	static struct packet need;

	need = (struct packet){.type = PACKET_NEED, .sequence = at, .need = {.client = client}};
	need.need.expected = expected;
	need.need.entry_count = (uint16_t)count;
	if (count > 0)
		memcpy(need.need.entries, entries, count * sizeof(*entries));
	return carousel_need(carousel, &need, now, &answer);
}

static bool wants(uint32_t client, uint32_t chunk, uint32_t count, int64_t now) {
	struct need_entry entry = {.chunk = chunk, .count = count};
	return needs(client, carousel->sequence, now, 1, &entry);
}

static void lacks(uint32_t client, uint32_t chunk, uint32_t block, uint32_t missing, uint32_t at) {
	struct need_entry entry = {.chunk = chunk, .block = (uint8_t)block, .missing = (uint8_t)missing};
	needs(client, at, SECOND, 1, &entry);
}

static void reports(uint32_t client, uint32_t received, uint32_t lost, uint32_t dropped, int64_t now) {
	struct packet need = {.type = PACKET_NEED,
			      .need = {.client = client, .received = received, .lost = lost, .dropped = dropped}};
	need.sequence = carousel->sequence;
	carousel_need(carousel, &need, now, &answer);
}

static bool next(int64_t now) { return carousel_next(carousel, now, &sequence, &data); }

// Sends all there is. Returns how many; *ret_repairs: of them.
static uint32_t drain(int64_t now, uint32_t *ret_repairs) {
	uint32_t count = 0;

	for (*ret_repairs = 0; next(now); count++)
		*ret_repairs += is_parity(data.symbol);
	return count;
}

static void test_turns(void) {
	uint32_t seen[100] = {0}, turns = 0, wrong = 0, repairs, at = 0xfffffff0;
	uint16_t turn = 0;

	begin(1);
	ok(!next(0), "nothing is wanted");
	wants(1, 0, 100, 0);
	ok(!next(49 * MS), "the first turn waits for the others");
	for (uint32_t i = 0; next(50 * MS); i++) {
		wrong += sequence != ++at || data.symbols != LONG || data.block > 1 || is_parity(data.symbol);
		wrong += seen[data.chunk]++ != data.symbol * 2u + data.block;
		turns += i == 0 || data.turn != turn;
		wrong += data.chunk / 10 != turns - 1;
		turn = data.turn;
	}
	ok(wrong == 0 && at == 0xfffffff0 + 100 * LONG, "every symbol once, in order");
	ok(turns == 10, "2,048 symbols and no more: ten chunks of 200 in a turn");
	wants(1, 200, 20, SECOND);
	ok(next(2 * SECOND) && data.chunk == 200 && carousel->turn.count == 16, "16 chunks and no more");
	ok(drain(2 * SECOND, &repairs) == 19 && repairs == 0 && !carousel_is_sending(carousel), "all of them");
}

static void test_gathering(void) {
	begin(1);
	for (uint32_t i = 0; i < 20; i++)
		wants(i + 1, 0, 1, i * 20 * MS);
	ok(!next(299 * MS) && next(300 * MS), "clients that come later wait with the first, 300 ms at most");
	begin(1);
	wants(1, 0, 1, 0);
	wants(2, 0, 1, 40 * MS);
	wants(2, 0, 1, 80 * MS);
	ok(!next(89 * MS) && next(90 * MS), "50 ms after the last one came");
}

static void test_expected(void) {
	static struct packet told;

	expected = 3;
	begin(2);
	ok(wants(1, 0, 1, 0) && answer.flags == 0, "the first of three is not alone");
	needs(1, 0, 100 * MS, 0, NULL);
	wants(2, 0, 1, 800 * MS);
	carousel_announce(carousel, 840 * MS, &told);
	ok(carousel_is_sending(carousel) && !next(840 * MS), "two wait for the third");
	needs(3, 0, 850 * MS, 0, NULL);
	ok(!next(899 * MS), "which is there when it requests something");
	wants(3, 0, 1, 900 * MS);
	ok(next(900 * MS), "and starts the turn then");
	begin(2);
	wants(1, 0, 1, 0);
	wants(2, 0, 1, 990 * MS);
	ok(!next(999 * MS) && next(SECOND), "a second at most");
	drain(SECOND, &(uint32_t){0});
	wants(1, 1, 1, 2 * SECOND);
	ok(next(2 * SECOND + 50 * MS) && data.chunk == 1, "nobody waits for those who came before");
	begin(4);
	ok(wants(1, 0, 1, 0) && answer.flags & FLAG_ALONE, "fewer than the sender sends to are alone");
	expected = 1;
	begin(2);
	ok(wants(1, 0, 1, 0) && answer.flags & FLAG_ALONE, "so is one that expects itself only");
	expected = 0;
}

static void test_asked_again(void) {
	uint32_t repairs;

	begin(1);
	wants(1, 0, 1, 0);
	for (uint32_t i = 0; i < LONG / LATE_SHARE; i++)
		next(SECOND);
	wants(2, 0, 1, SECOND);
	ok(drain(SECOND, &repairs) == LONG - LONG / LATE_SHARE, "a chunk requested at the start of its turn is in it");
	wants(1, 0, 1, SECOND);
	for (uint32_t i = 0; i < LONG / 2; i++)
		next(2 * SECOND);
	wants(2, 0, 1, 2 * SECOND);
	ok(drain(2 * SECOND, &repairs) == LONG / 2 + LONG, "one requested in the middle is sent again");
}

static void test_parity(void) {
	uint32_t repairs, before;

	begin(1);
	wants(1, 0, 1, 0);
	drain(SECOND, &repairs);
	before = carousel->sequence;
	lacks(1, 0, 1, 5, before);
	lacks(2, 0, 1, 3, before);
	lacks(3, 0, 1, 7, before);
	ok(drain(SECOND, &repairs) == 7 && repairs == 7, "the most that one lacks, not the sum");
	ok(data.chunk == 0 && data.block == 1 && data.symbol == BLOCK_MAX + 6, "each with the next number");
	lacks(4, 0, 1, 7, before);
	ok(drain(SECOND, &repairs) == 0, "what left since is no more owed");
	lacks(4, 0, 1, 7, before + 2);
	ok(drain(SECOND, &repairs) == 2 && data.symbol == BLOCK_MAX + 8, "exactly that");
	lacks(4, 0, 1, 9, 12345);
	ok(drain(SECOND, &repairs) == 9, "the sequence of another sender counts as the last one");
	lacks(1, 0, 0, 100, carousel->sequence);
	ok(drain(SECOND, &repairs) == 100, "many");
	lacks(1, 0, 0, 28, carousel->sequence);
	ok(drain(2 * SECOND, &repairs) == LONG && repairs == 0, "the numbers are used up: the chunk is sent again");
	lacks(1, 0, 0, 28, carousel->sequence);
	ok(drain(2 * SECOND, &repairs) == 28 && repairs == 28, "and they start again");
	lacks(1, 1, 0, 3, carousel->sequence);
	ok(drain(3 * SECOND, &repairs) == LONG && data.chunk == 1, "a chunk that was never sent is sent as a whole");
}

static void test_parity_in_a_turn(void) {
	uint32_t repairs;

	begin(1);
	wants(1, 0, 1, 0);
	for (uint32_t i = 0; i < 50; i++)
		next(SECOND);
	lacks(1, 0, 0, 75, carousel->sequence);
	lacks(2, 0, 1, 80, carousel->sequence);
	ok(drain(SECOND, &repairs) == LONG - 50 + 5 && repairs == 5 && data.block == 1,
	   "what leaves in this turn is not owed");
	lacks(1, 0, 0, 75, carousel->sequence);
	ok(drain(SECOND, &repairs) == 75 && repairs == 75, "after it, all is");
}

static void test_budget(void) {
	uint32_t repairs = 0, count = 0;

	begin(1);
	wants(1, 0, 1, 0);
	drain(SECOND, &repairs);
	carousel->budget = 0;
	wants(1, 1, 10, SECOND);
	lacks(1, 0, 0, 100, carousel->sequence);
	lacks(1, 0, 1, 100, carousel->sequence);
	for (repairs = 0; count < 900 && next(2 * SECOND); count++)
		repairs += is_parity(data.symbol);
	ok(repairs == 100, "one parity symbol for eight of data");
	carousel->clients.strained = true;
	for (count = repairs = 0; count < 90 && next(2 * SECOND); count++)
		repairs += is_parity(data.symbol);
	ok(repairs == 30, "one for two while many lose packets");
}

static void test_forgotten(void) {
	uint32_t repairs;

	begin(1);
	wants(1, 0, 1, 0);
	drain(SECOND, &repairs);
	lacks(1, 0, 0, 50, carousel->sequence);
	carousel->budget = 0;
	wants(1, 100, KEPT, SECOND);
	for (uint32_t i = 0; i < KEPT + KEPT / 8 && carousel->kept_count <= KEPT; i++)
		next(2 * SECOND);
	drain(2 * SECOND, &repairs);
	lacks(1, 0, 0, 3, carousel->sequence);
	ok(drain(3 * SECOND, &repairs) == LONG && repairs == 0, "the chunk that left longest ago is sent again");
	ok(carousel->owing_count == 0, "nothing is owed");
}

static void test_alone(void) {
	begin(2);
	ok(wants(1, 0, 1, 0) && answer.flags == (FLAG_ALONE | FLAG_IDLE) && answer.announce.client == 1,
	   "the only client uses HTTP");
	ok(!next(SECOND), "and is sent nothing");
	ok(wants(2, 0, 1, SECOND) && answer.flags == 0 && answer.announce.client == 2, "from the second on");
	ok(next(2 * SECOND), "the image is sent");
	ok(!wants(2, 0, 1, 2 * SECOND), "only the first NEED is answered");
	begin(2);
	wants(1, 0, 1, 0);
	ok(wants(2, 0, 1, 3 * SECOND) && answer.flags & FLAG_ALONE, "one that is silent for 3 s does not count");
	ok(!carousel_is_over(carousel, 63 * SECOND) && carousel_is_over(carousel, 64 * SECOND), "60 s of silence");
}

static void test_unheard(void) {
	static struct packet told;
	int64_t now = 0;

	begin(1);
	wants(1, 0, 200, 0);
	for (; now < 540 * MS; now += 10 * MS, next(now))
		carousel_announce(carousel, now, &told);
	ok(carousel_is_sending(carousel), "for half a second nobody need hear it");
	for (; now < 600 * MS; now += 10 * MS)
		carousel_announce(carousel, now, &told);
	ok(!carousel_is_sending(carousel) && !next(now), "then it stops");
	wants(1, 0, 200, now);
	reports(1, 5, 0, 0, now + 100 * MS);
	for (int64_t end = now + 3 * SECOND; now < end; now += 10 * MS, next(now))
		carousel_announce(carousel, now, &told);
	ok(carousel_is_sending(carousel), "who hears it keeps it going");
	for (int64_t end = now + SECOND; now < end; now += 10 * MS)
		carousel_announce(carousel, now, &told);
	ok(!carousel_is_sending(carousel), "until all are gone");
}

static void test_rate(void) {
	static struct packet told;

	begin(1);
	ok(carousel->rate == CAP / 2, "half of the cap at first");
	for (int64_t now = 0; now < 5 * SECOND; now += 50 * MS)
		carousel_announce(carousel, now, &told);
	ok(carousel->rate == CAP && told.announce.rate == CAP, "then the cap");
	for (uint32_t i = 1; i <= 8; i++)
		reports(i, 600, i == 1 ? 80 : 0, 0, 5 * SECOND);
	carousel_announce(carousel, 6 * SECOND, &told);
	ok(carousel->rate == CAP && told.announce.clients == 8, "one of eight does not lower it");
	reports(2, 600, 0, 4, 6 * SECOND);
	carousel_announce(carousel, 7 * SECOND, &told);
	ok(carousel->rate == CAP / 5 * 4, "two do, also for want of room");
	for (int64_t now = 7 * SECOND; now < 12 * SECOND; now += 50 * MS) {
		for (uint32_t i = 1; i <= 8; i++)
			reports(i, 490, 40, 0, now);
		carousel_announce(carousel, now, &told);
	}
	ok(carousel->rate == CAP, "what parity makes up for does not, if all lose it");
	ok(carousel->clients.strained, "with more parity");
	for (int64_t now = 12 * SECOND; now < 30 * SECOND; now += 50 * MS) {
		for (uint32_t i = 1; i <= 8; i++)
			reports(i, 490, 70, 0, now);
		carousel_announce(carousel, now, &told);
	}
	ok(carousel->rate == CAP / 4, "more does, down to a quarter");
}

static void test_leave(void) {
	begin(1);
	for (uint32_t i = 0; i < 10; i++)
		reports(1, 300, 140, 0, SECOND);
	ok(wants(1, 0, 1, SECOND) && answer.flags & FLAG_LEAVE && answer.announce.client == 1, "it loses too much");
	ok(!carousel_is_sending(carousel), "and gets nothing");
	reports(2, UINT32_MAX, UINT32_MAX, UINT32_MAX, SECOND);
	reports(2, UINT32_MAX, UINT32_MAX, UINT32_MAX, SECOND);
	ok(answer.flags & FLAG_LEAVE, "counters at their end");
}

static void test_hostile(void) {
	struct need_entry entries[] = {{.chunk = CHUNKS, .count = 5},
				       {.chunk = CHUNKS - 1, .count = PACKET_CHUNKS_MAX - CHUNKS},
				       {.chunk = 200, .block = 1, .missing = 1},
				       {.chunk = CHUNKS, .missing = 3}};
	uint32_t repairs;

	begin(1);
	needs(1, 0, 0, 4, entries);
	ok(drain(SECOND, &repairs) == 1 && data.chunk == CHUNKS - 1, "chunks and blocks that the image has not");
	for (uint32_t i = 1; i < 100000; i++)
		reports(i * 77, 1, 0, 0, SECOND);
	clients_count(&carousel->clients, SECOND);
	ok(carousel->clients.present == CLIENT_BUCKETS * CLIENT_WAYS, "no more than 4,096 clients are counted");
	carousel_announce(carousel, SECOND, &answer);
	ok(answer.announce.interval == 1024, "who send 4,000 NEEDs in a second");
}

int main(void) {
	for (uint32_t i = 0; i < CHUNKS; i++)
		chunks[i].frame = i < 100 ? LONG * SYMBOL : 1;
	test_turns();
	test_gathering();
	test_expected();
	test_asked_again();
	test_parity();
	test_parity_in_a_turn();
	test_budget();
	test_forgotten();
	test_alone();
	test_unheard();
	test_rate();
	test_leave();
	test_hostile();
	carousel_close(&carousel);
	return tap_done();
}
