// SPDX-License-Identifier: Apache-2.0
#include "multicast/slot.h"

#include <stdlib.h>
#include <string.h>

#include "multicast/parity.h"

#define EMPTY 0xff // no symbol has this number

// The numbers of a block. Its place i is symbol i * blocks + block of the frame.
static uint8_t *numbers_of(struct slot *slot, uint32_t block) {
	uint32_t least = slot->symbols / slot->blocks, longer = slot->symbols % slot->blocks;
	return slot->numbers + block * least + (block < longer ? block : longer);
}

static uint8_t *place_of(const struct slot *slot, uint32_t block, uint32_t i) {
	return slot->frame + ((size_t)i * slot->blocks + block) * SYMBOL;
}

struct slot *slot_open(uint32_t chunk, uint32_t symbols, bool stores) {
	struct slot *slot = malloc(sizeof(*slot) + symbols);
	uint8_t *frame = slot && stores ? malloc((size_t)symbols * SYMBOL) : NULL;

	if (!slot || (stores && !frame)) {
		free(slot);
		return NULL;
	}
	*slot = (struct slot){.chunk = chunk, .symbols = (uint16_t)symbols, .frame = frame};
	slot->blocks = slot->incomplete = (uint8_t)block_count(symbols);
	memset(slot->numbers, EMPTY, symbols);
	return slot;
}

void slot_close(struct slot *slot) {
	if (slot)
		free(slot->frame);
	free(slot);
}

// The place for a symbol in its block of k, some of which are empty. k: it is there already.
static uint32_t find_place(const uint8_t *numbers, uint32_t k, uint8_t symbol) {
	if (!is_parity(symbol) && numbers[symbol] == EMPTY)
		return symbol;
	if (memchr(numbers, symbol, k))
		return k;
	return (uint32_t)((const uint8_t *)memchr(numbers, EMPTY, k) - numbers);
}

enum slot_result slot_put(struct slot *slot, uint32_t block, uint8_t symbol, const uint8_t *payload) {
	uint8_t *numbers = numbers_of(slot, block);
	uint32_t k = block_size(slot->symbols, block), place = k;

	if (slot->have[block] < k)
		place = find_place(numbers, k, symbol);
	if (place == k)
		return SLOT_DUPLICATE;
	numbers[place] = symbol;
	if (slot->frame)
		memcpy(place_of(slot, block, place), payload, SYMBOL);
	if (++slot->have[block] == k)
		slot->incomplete--;
	return slot->incomplete == 0 ? SLOT_COMPLETE : SLOT_STORED;
}

uint32_t slot_missing(const struct slot *slot, uint32_t block) {
	return block_size(slot->symbols, block) - slot->have[block];
}

uint32_t slot_restore(struct slot *slot) {
	uint8_t *places[BLOCK_MAX];
	uint32_t used = 0;

	for (uint32_t block = 0; block < slot->blocks; block++) {
		uint8_t *numbers = numbers_of(slot, block);
		uint32_t k = block_size(slot->symbols, block), before = used;
		for (uint32_t i = 0; i < k; i++) {
			places[i] = place_of(slot, block, i);
			used += is_parity(numbers[i]);
		}
		if (used > before)
			parity_restore(places, numbers, k, SYMBOL);
	}
	return used;
}
