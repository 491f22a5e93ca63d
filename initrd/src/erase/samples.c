// SPDX-License-Identifier: Apache-2.0
#include "erase/samples.h"

#include <openssl/sha.h>
#include <string.h>

#include "base/bytes.h"

uint64_t samples_count(uint64_t bytes) {
	uint64_t gib = bytes >> 30;
	return gib > SAMPLES_LEAST ? gib : SAMPLES_LEAST;
}

uint64_t samples_offset(const uint8_t seed[SEED], uint64_t bytes, uint64_t n, uint64_t i) {
	uint8_t text[SEED + 8], hash[SHA256_DIGEST_LENGTH];
	uint64_t choices = bytes / n / SAMPLE;

	memcpy(text, seed, SEED);
	for (unsigned k = 0; k < 8; k++)
		text[SEED + k] = (uint8_t)(i >> (56 - 8 * k));
	SHA256(text, sizeof(text), hash);
	return (i * choices + get_be64(hash) % choices) * SAMPLE;
}
