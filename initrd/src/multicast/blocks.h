// SPDX-License-Identifier: Apache-2.0
// How a data frame is cut into symbols and blocks (contract/multicast.md, "Symbols and blocks").
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "image/index.h"

#define SYMBOL 1408u						    // bytes
#define SYMBOLS_MAX ((uint32_t)((FRAME_MAX + SYMBOL - 1) / SYMBOL)) // of a frame
#define BLOCK_MAX 128u // data symbols of a block; numbers from there on are those of parity symbols
#define BLOCKS_MAX ((SYMBOLS_MAX + BLOCK_MAX - 1) / BLOCK_MAX) // of a frame
#define PARITY_MAX 127u					       // parity symbols of a block
#define SYMBOL_END (BLOCK_MAX + PARITY_MAX)		       // no symbol has this number
#define TURN_CHUNKS 16u					       // of a turn, at most
#define TURN_SYMBOLS 2048u				       // of a turn of more than one chunk, at most
#define LATE_SHARE 16u // the share of a turn or frame, 1/16, that whoever was late for may miss

// Symbols of a data frame of `size` bytes, of which there is at least one.
static inline uint32_t frame_symbols(uint32_t size) { return (size + SYMBOL - 1) / SYMBOL; }

static inline uint32_t block_count(uint32_t symbols) { return (symbols + BLOCK_MAX - 1) / BLOCK_MAX; }

// Data symbols of a block of a frame of `symbols`.
static inline uint32_t block_size(uint32_t symbols, uint32_t block) {
	uint32_t blocks = block_count(symbols);
	return (symbols - block + blocks - 1) / blocks;
}

static inline bool is_parity(uint32_t symbol) { return symbol >= BLOCK_MAX; }
