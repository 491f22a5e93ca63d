// SPDX-License-Identifier: Apache-2.0
#include "multicast/gather_need.h"

#define QUIET (60 * MILLISECOND)	   // without data; and two intervals
#define AGAIN (100 * MILLISECOND)	   // between two requests for the same, or two intervals
#define INTERVALS_MOST (500 * MILLISECOND) // two intervals, whatever was announced: well below a silence
#define ALIVE SECOND			   // between two NEEDs of which the second has no entries

static int64_t random_interval(struct gather *g) {
	g->chance ^= g->chance << 13;
	g->chance ^= g->chance >> 7;
	g->chance ^= g->chance << 17;
	return g->interval / 2 + (int64_t)(g->chance >> 11) % (g->interval + 1);
}

static int64_t two_intervals(const struct gather *g) {
	return 2 * g->interval < INTERVALS_MOST ? 2 * g->interval : INTERVALS_MOST;
}

static int64_t again_after(const struct gather *g) { return two_intervals(g) > AGAIN ? two_intervals(g) : AGAIN; }

// Whether more of this chunk comes only on request.
static bool has_passed(const struct gather *g, const struct slot *slot, bool quiet) {
	return quiet || slot->turn != g->turn.number;
}

static bool has_room(const struct need_packet *need, uint32_t entries) {
	return need->entry_count + entries <= ENTRIES_MAX;
}

static void ask_parity(struct gather *g, int64_t now, bool quiet, struct need_packet *need) {
	for (struct slot *slot = g->open; slot && has_room(need, slot->blocks); slot = slot->next) {
		if (!has_passed(g, slot, quiet) || (slot->requested && now - slot->requested < again_after(g)))
			continue;
		slot->requested = now;
		for (uint32_t block = 0; block < slot->blocks; block++) {
			uint32_t missing = slot_missing(slot, block);
			if (missing > 0)
				need->entries[need->entry_count++] = (struct need_entry){
					.chunk = slot->chunk,
					.block = (uint8_t)block,
					.missing = (uint8_t)(missing < PARITY_MAX ? missing : PARITY_MAX),
				};
		}
	}
}

static void ask_chunks(struct gather *g, struct need_packet *need) {
	uint32_t count = g->order.index->chunk_count;

	for (uint32_t i = 0; i < count && g->ask_count > 0 && has_room(need, 1); i++) {
		struct need_entry entry = {.chunk = i};
		for (; i < count && bitmap_has(g->ask, i); i++) {
			bitmap_remove(g->ask, i);
			g->ask_count--;
			entry.count++;
		}
		if (entry.count > 0)
			need->entries[need->entry_count++] = entry;
	}
}

// At the start, and when nothing comes any more.
static void ask_all(struct gather *g, int64_t now) {
	if (now - g->asked_all < again_after(g))
		return;
	g->asked_all = now;
	for (uint32_t i = 0; i < g->order.index->chunk_count; i++)
		gather_ask(g, i);
}

static uint32_t since(uint64_t count, uint64_t before) {
	return count - before < UINT32_MAX ? (uint32_t)(count - before) : UINT32_MAX;
}

// All but the entries.
static void finish(struct gather *g, int64_t now, struct packet *ret) {
	struct need_packet *need = &ret->need;

	ret->type = PACKET_NEED;
	ret->flags = 0;
	ret->sequence = g->started ? g->sequence : 0;
	need->client = g->order.client;
	need->received = since(g->counts.received, g->at_need.received);
	need->lost = since(g->counts.lost, g->at_need.lost);
	need->dropped = since(g->counts.dropped, g->at_need.dropped);
	need->room = (uint16_t)(g->room < UINT16_MAX ? g->room : UINT16_MAX);
	need->expected = g->order.expected;
	g->at_need = g->counts;
	g->confirms = false;
	g->last_need = now;
}

void gather_alive(struct gather *g, int64_t now, struct packet *ret) {
	ret->need.entry_count = 0;
	finish(g, now, ret);
}

bool gather_need(struct gather *g, int64_t now, struct packet *ret) {
	bool quiet = !g->started || g->idle || now - g->last_data > QUIET + two_intervals(g);
	struct need_packet *need = &ret->need;

	if (now < g->next_need || g->left == 0)
		return false;
	g->next_need = now + random_interval(g);
	need->entry_count = 0;
	if (quiet)
		ask_all(g, now);
	ask_parity(g, now, quiet, need);
	ask_chunks(g, need);
	if (need->entry_count == 0 && !g->confirms && now - g->last_need < ALIVE)
		return false;
	finish(g, now, ret);
	return true;
}
