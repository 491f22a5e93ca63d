// SPDX-License-Identifier: Apache-2.0
// A data frame of which symbols arrive, in any order: which of them are there, and their bytes. Pure.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "multicast/blocks.h"

struct slot {
	struct slot *next, **link; // in the list of whoever owns it; link: what points to it
	uint32_t chunk;
	uint16_t symbols;
	uint16_t turn;		    // in which data symbols of it came last
	uint8_t blocks, incomplete; // how many
	uint8_t have[BLOCKS_MAX];   // symbols of each block
	int64_t requested;	    // when its parity was requested last; 0: not yet
	uint8_t *frame;		    // `symbols` * SYMBOL bytes; NULL: nothing is stored, only counted
	uint8_t numbers[];	    // of the symbol at each place, block after block
};

enum slot_result { SLOT_STORED, SLOT_DUPLICATE, SLOT_COMPLETE };

// Returns a slot for a frame of that many symbols; NULL if memory is short.
struct slot *slot_open(uint32_t chunk, uint32_t symbols, bool stores);
void slot_close(struct slot *slot);

// Takes a symbol of SYMBOL bytes, whose block and number are those of such a frame. A symbol that its block has
// already, or does not need any more, is a duplicate. SLOT_COMPLETE: it was the last one that any block needed.
enum slot_result slot_put(struct slot *slot, uint32_t block, uint8_t symbol, const uint8_t *payload);

uint32_t slot_missing(const struct slot *slot, uint32_t block); // symbols

// Makes the frame from the symbols of a complete slot, in place. Returns how many parity symbols that took.
uint32_t slot_restore(struct slot *slot);
