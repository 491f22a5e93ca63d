// SPDX-License-Identifier: Apache-2.0
// Symbols times a factor in GF(256): with AVX2 or SSSE3 on amd64, NEON on arm64, in plain C everywhere.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The products of a factor with 0 .. 15, and with 0, 16 .. 240: two lookups make a product with any byte.
struct gf256_products {
	_Alignas(16) uint8_t low[16], high[16];
};

// Adds factor * from to `to`, or with `set`, which may have the same memory for both, stores it there.
typedef void gf256_work(const struct gf256_products *products, uint8_t *to, const uint8_t *from, size_t size);

// All have the same results.
struct gf256_kernel {
	const char *name;
	gf256_work *add, *set;
};

// Puts those that this CPU can run into `ret`, which has room for three, the best one first. Returns how many.
size_t kernels_fill(struct gf256_kernel *ret);
