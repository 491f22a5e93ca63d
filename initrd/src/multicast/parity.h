// SPDX-License-Identifier: Apache-2.0
// Parity of blocks (contract/multicast.md, "Symbols and blocks"): any k symbols of a block restore its k data symbols.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Makes the parity symbol `number`, 128 to 254, of the k data symbols of a block.
void parity_make(const uint8_t *const *data, uint32_t k, uint8_t number, uint8_t *ret, size_t size);

// Restores a block in place: symbols[i] holds the symbol numbers[i], k different ones in any order; afterwards the data
// symbol i. False, with nothing changed: a number is there twice, or none of this block's.
bool parity_restore(uint8_t *const *symbols, uint8_t *numbers, uint32_t k, size_t size);
