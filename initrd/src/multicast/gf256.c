// SPDX-License-Identifier: Apache-2.0
#include "multicast/gf256.h"

#include <pthread.h>

#define POLYNOMIAL 0x11du
#define KERNELS_MAX 3u

// Made once from the polynomial.
static struct {
	struct gf256_products products[256];
	uint8_t inverse[256];
	struct gf256_kernel kernels[KERNELS_MAX];
	size_t kernel_count;
} tables;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint8_t multiply(uint8_t a, uint8_t b) {
	unsigned product = 0;

	for (unsigned x = a; b; b >>= 1, x = x << 1 ^ (x & 0x80 ? POLYNOMIAL : 0))
		product ^= b & 1 ? x : 0;
	return (uint8_t)product;
}

static void make_tables(void) {
	for (unsigned f = 0; f < 256; f++) {
		for (unsigned i = 0; i < 16; i++) {
			tables.products[f].low[i] = multiply((uint8_t)f, (uint8_t)i);
			tables.products[f].high[i] = multiply((uint8_t)f, (uint8_t)(i << 4));
		}
	}
	for (unsigned a = 1; a < 256; a++)
		for (unsigned b = a; b < 256; b++)
			if (multiply((uint8_t)a, (uint8_t)b) == 1) {
				tables.inverse[a] = (uint8_t)b;
				tables.inverse[b] = (uint8_t)a;
			}
	tables.kernel_count = kernels_fill(tables.kernels);
}

uint8_t gf256_multiply(uint8_t a, uint8_t b) {
	pthread_once(&once, make_tables);
	return tables.products[a].low[b & 15] ^ tables.products[a].high[b >> 4];
}

uint8_t gf256_inverse(uint8_t a) {
	pthread_once(&once, make_tables);
	return tables.inverse[a];
}

const struct gf256_kernel *gf256_kernels(size_t *ret_count) {
	pthread_once(&once, make_tables);
	*ret_count = tables.kernel_count;
	return tables.kernels;
}

void gf256_add_multiple(uint8_t *to, const uint8_t *from, uint8_t factor, size_t size) {
	pthread_once(&once, make_tables);
	tables.kernels[0].add(&tables.products[factor], to, from, size);
}

void gf256_scale(uint8_t *bytes, uint8_t factor, size_t size) {
	pthread_once(&once, make_tables);
	tables.kernels[0].set(&tables.products[factor], bytes, bytes, size);
}
