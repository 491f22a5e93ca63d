// SPDX-License-Identifier: Apache-2.0
#include "multicast/siphash.h"

#include "base/bytes.h"

struct state {
	uint64_t v0, v1, v2, v3;
};

static uint64_t left(uint64_t x, unsigned by) { return x << by | x >> (64 - by); }

static void one_round(struct state *s) {
	s->v0 += s->v1;
	s->v1 = left(s->v1, 13) ^ s->v0;
	s->v0 = left(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = left(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = left(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = left(s->v1, 17) ^ s->v2;
	s->v2 = left(s->v2, 32);
}

static void absorb(struct state *s, uint64_t word) {
	s->v3 ^= word;
	one_round(s);
	one_round(s);
	s->v0 ^= word;
}

uint64_t siphash(const uint8_t key[SIPHASH_KEY], const uint8_t *head, size_t head_size, const uint8_t *tail,
		 size_t tail_size) {
	uint64_t k0 = get_le64(key), k1 = get_le64(key + 8), last = (uint64_t)(head_size + tail_size) << 56;
	struct state s = {k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
			  k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)};
	size_t whole = tail_size / 8 * 8;

	for (size_t i = 0; i < head_size; i += 8)
		absorb(&s, get_le64(head + i));
	for (size_t i = 0; i < whole; i += 8)
		absorb(&s, get_le64(tail + i));
	for (size_t i = whole; i < tail_size; i++)
		last |= (uint64_t)tail[i] << (8 * (i - whole));
	absorb(&s, last);
	s.v2 ^= 0xff;
	for (int i = 0; i < 4; i++)
		one_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
