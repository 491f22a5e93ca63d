// SPDX-License-Identifier: Apache-2.0
#include "multicast/parity.h"

#include <string.h>

#include "multicast/blocks.h"
#include "multicast/gf256.h"

// What data symbol `data` counts in parity symbol `number`.
static uint8_t factor_of(uint32_t number, uint32_t data) { return gf256_inverse((uint8_t)(number ^ data)); }

void parity_make(const uint8_t *const *data, uint32_t k, uint8_t number, uint8_t *ret, size_t size) {
	memset(ret, 0, size);
	for (uint32_t i = 0; i < k; i++)
		gf256_add_multiple(ret, data[i], factor_of(number, i), size);
}

static bool are_distinct(const uint8_t *numbers, uint32_t k) {
	bool seen[SYMBOL_END] = {false};

	for (uint32_t i = 0; i < k; i++) {
		uint32_t n = numbers[i];
		if (n >= SYMBOL_END || (!is_parity(n) && n >= k) || seen[n])
			return false;
		seen[n] = true;
	}
	return true;
}

static void swap_bytes(uint8_t *a, uint8_t *b, size_t size) {
	for (size_t i = 0; i < size; i++) {
		uint8_t byte = a[i];
		a[i] = b[i];
		b[i] = byte;
	}
}

// Moves each data symbol to its own place. Parity symbols are then where data is missing.
static void put_in_place(uint8_t *const *symbols, uint8_t *numbers, uint32_t k, size_t size) {
	for (uint32_t i = 0; i < k; i++) {
		while (!is_parity(numbers[i]) && numbers[i] != i) {
			uint8_t own = numbers[i];
			swap_bytes(symbols[i], symbols[own], size);
			numbers[i] = numbers[own];
			numbers[own] = own;
		}
	}
}

// Solves the equations of `count` parity symbols, from which the data that is there was taken already. A square part of
// a Cauchy matrix is one too, so no pivot is 0 and no rows are exchanged.
static void solve(uint8_t *const *symbols, const uint8_t *numbers, const uint8_t *missing, uint32_t count,
		  size_t size) {
	uint8_t matrix[BLOCK_MAX][BLOCK_MAX];

	for (uint32_t row = 0; row < count; row++)
		for (uint32_t column = 0; column < count; column++)
			matrix[row][column] = factor_of(numbers[missing[row]], missing[column]);
	for (uint32_t pivot = 0; pivot < count; pivot++) {
		uint8_t inverse = gf256_inverse(matrix[pivot][pivot]);
		gf256_scale(matrix[pivot], inverse, count);
		gf256_scale(symbols[missing[pivot]], inverse, size);
		for (uint32_t row = 0; row < count; row++) {
			uint8_t factor = matrix[row][pivot];
			if (row == pivot)
				continue;
			gf256_add_multiple(matrix[row], matrix[pivot], factor, count);
			gf256_add_multiple(symbols[missing[row]], symbols[missing[pivot]], factor, size);
		}
	}
}

bool parity_restore(uint8_t *const *symbols, uint8_t *numbers, uint32_t k, size_t size) {
	uint8_t missing[BLOCK_MAX] = {0};
	uint32_t count = 0;

	if (k > BLOCK_MAX || !are_distinct(numbers, k))
		return false;
	put_in_place(symbols, numbers, k, size);
	for (uint32_t i = 0; i < k; i++)
		if (is_parity(numbers[i]))
			missing[count++] = (uint8_t)i;
	for (uint32_t row = 0; row < count; row++)
		for (uint32_t i = 0; i < k; i++)
			if (!is_parity(numbers[i]))
				gf256_add_multiple(symbols[missing[row]], symbols[i],
						   factor_of(numbers[missing[row]], i), size);
	solve(symbols, numbers, missing, count, size);
	for (uint32_t i = 0; i < count; i++)
		numbers[missing[i]] = missing[i];
	return true;
}
