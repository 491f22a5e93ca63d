// SPDX-License-Identifier: Apache-2.0
// Parity of blocks: the contract's vectors, every kernel beside the plain one, and blocks that were lost in part.
#include <glob.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "multicast/blocks.h"
#include "multicast/gf256.h"
#include "multicast/parity.h"
#include "tap.h"

static uint64_t chance = 0x9e3779b97f4a7c15; // seed

static uint32_t below(uint32_t limit) {
	chance ^= chance << 13;
	chance ^= chance >> 7;
	chance ^= chance << 17;
	return (uint32_t)((chance >> 32) * limit >> 32);
}

static void fill(uint8_t *bytes, size_t size) {
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)below(256);
}

static void test_field(void) {
	unsigned wrong = 0;

	for (unsigned a = 1; a < 256; a++) {
		wrong += gf256_multiply((uint8_t)a, gf256_inverse((uint8_t)a)) != 1;
		wrong += gf256_multiply((uint8_t)a, 1) != a || gf256_multiply(0, (uint8_t)a) != 0;
		for (unsigned b = 0; b < 256; b++)
			wrong += gf256_multiply((uint8_t)a, (uint8_t)b) != gf256_multiply((uint8_t)b, (uint8_t)a);
	}
	ok(wrong == 0, "a field");
	ok(gf256_multiply(2, 0x80) == 0x1d, "the polynomial is 0x11D");
}

static struct gf256_products products_of(uint8_t factor) {
	struct gf256_products products;

	for (unsigned i = 0; i < 16; i++) {
		products.low[i] = gf256_multiply(factor, (uint8_t)i);
		products.high[i] = gf256_multiply(factor, (uint8_t)(i << 4));
	}
	return products;
}

// Every size up to that of a symbol and every alignment, on 10,000 seeded blocks.
static void test_kernel(const struct gf256_kernel *kernel, const struct gf256_kernel *plain) {
	static uint8_t from[SYMBOL + 32], to[SYMBOL + 32], wanted[SYMBOL + 32];
	unsigned wrong = 0;

	for (unsigned round = 0; round < 10000; round++) {
		size_t size = round % 2 ? SYMBOL : below(SYMBOL + 1), at = below(32);
		struct gf256_products products = products_of((uint8_t)below(256));
		if (round % 64 == 0) {
			fill(from, sizeof(from));
			fill(to, sizeof(to));
		}
		memcpy(wanted, to, sizeof(to));
		kernel->add(&products, to + at, from + at / 2, size);
		plain->add(&products, wanted + at, from + at / 2, size);
		wrong += memcmp(to, wanted, sizeof(to)) != 0;
		kernel->set(&products, to + at, to + at, size);
		plain->set(&products, wanted + at, wanted + at, size);
		wrong += memcmp(to, wanted, sizeof(to)) != 0;
	}
	ok(wrong == 0, "%s is as plain C", kernel->name);
}

static void test_kernels(void) {
	size_t count;
	const struct gf256_kernel *kernels = gf256_kernels(&count);

	same(kernels[count - 1].name, "plain", "plain C is always there");
	for (size_t i = 0; i + 1 < count; i++)
		test_kernel(&kernels[i], &kernels[count - 1]);
}

static size_t from_hex(const char *hex, uint8_t *ret) {
	size_t size = strlen(hex) / 2;

	for (size_t i = 0; i < size; i++)
		if (sscanf(hex + 2 * i, "%2hhx", &ret[i]) != 1)
			abort();
	return size;
}

static void test_vector(const char *path) {
	static uint8_t symbols[BLOCK_MAX][64];
	const uint8_t *data[BLOCK_MAX];
	cleanup_free char *text = NULL;
	uint8_t wanted[64], made[64];
	unsigned checked = 0;
	uint32_t k = 0;
	char *rest;

	if (!ok(file_read(path, 65536, &text, NULL) == 0, "%s", path))
		return;
	rest = text;
	for (char *line = strsep(&rest, "\n"); line && *line; line = strsep(&rest, "\n")) {
		if (!strncmp(line, "data ", 5)) {
			from_hex(line + 5, symbols[k]);
			data[k] = symbols[k];
			k++;
		} else {
			char *end;
			unsigned long number = strtoul(line + strlen("parity "), &end, 10);
			size_t size = from_hex(end + 1, wanted);
			parity_make(data, k, (uint8_t)number, made, size);
			ok(memcmp(made, wanted, size) == 0, "%s: parity %lu", path, number);
			checked++;
		}
	}
	ok(checked >= 2, "%s: %u parity symbols of %u", path, checked, k);
}

static void test_vectors(void) {
	char pattern[512];
	glob_t found = {0};

	snprintf(pattern, sizeof(pattern), "%s/multicast/parity/*", getenv("SLED_CASES"));
	if (glob(pattern, 0, NULL, &found) != 0)
		abort();
	ok(found.gl_pathc >= 4, "%zu blocks", found.gl_pathc);
	for (size_t i = 0; i < found.gl_pathc; i++)
		test_vector(found.gl_pathv[i]);
	globfree(&found);
}

struct block {
	uint8_t data[BLOCK_MAX][SYMBOL], received[BLOCK_MAX][SYMBOL];
	const uint8_t *sent[BLOCK_MAX];
	uint8_t *places[BLOCK_MAX], numbers[BLOCK_MAX];
};

// k symbols of the k + 127 arrive, any ones in any order.
static void receive(struct block *block, uint32_t k, size_t size) {
	uint8_t all[SYMBOL_END];
	uint32_t count = 0;

	for (uint32_t n = 0; n < SYMBOL_END; n++)
		if (n < k || is_parity(n))
			all[count++] = (uint8_t)n;
	for (uint32_t i = 0; i < k; i++) {
		uint32_t other = i + below(count - i);
		uint8_t number = all[other];
		all[other] = all[i];
		block->numbers[i] = number;
		if (is_parity(number))
			parity_make(block->sent, k, number, block->received[i], size);
		else
			memcpy(block->received[i], block->data[number], size);
	}
}

static void test_restore(void) {
	struct block *block = malloc(sizeof(*block));
	unsigned wrong = 0;

	for (uint32_t i = 0; i < BLOCK_MAX; i++) {
		fill(block->data[i], SYMBOL);
		block->sent[i] = block->data[i];
		block->places[i] = block->received[i];
	}
	for (unsigned round = 0; round < 300; round++) {
		uint32_t k = round < BLOCK_MAX ? round + 1 : below(BLOCK_MAX) + 1;
		size_t size = round % 16 ? 40 : SYMBOL;
		receive(block, k, size);
		wrong += !parity_restore(block->places, block->numbers, k, size);
		for (uint32_t i = 0; i < k; i++)
			wrong += memcmp(block->received[i], block->data[i], size) != 0 || block->numbers[i] != i;
	}
	ok(wrong == 0, "any k symbols restore a block");
	free(block);
}

// Numbers that no block has, which a caller that counts wrongly may pass.
static void test_refused(void) {
	static uint8_t bytes[2][8] = {"first", "second"};
	uint8_t *const places[2] = {bytes[0], bytes[1]};
	uint8_t twice[2] = {128, 128}, past[2] = {0, 2}, last[2] = {0, 255};

	ok(!parity_restore(places, twice, 2, 8) && !parity_restore(places, past, 2, 8) &&
		   !parity_restore(places, last, 2, 8),
	   "numbers of no block");
	same((char *)bytes[0], "first", "nothing is changed");
}

int main(void) {
	test_field();
	test_kernels();
	test_vectors();
	test_restore();
	test_refused();
	return tap_done();
}
