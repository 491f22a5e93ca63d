// SPDX-License-Identifier: Apache-2.0
#include "erase/pattern.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define CELL 16u	  // bytes of a block of AES
#define PIECE (16u << 10) // made at a time: it stays in the first cache of a processor

struct pattern {
	EVP_CIPHER_CTX *cipher;
	uint8_t key[CELL];
	uint8_t piece[PIECE]; // to compare with
};

static const uint8_t zeros[PIECE];

int pattern_new(struct pattern **ret, struct fault *fault) {
	struct pattern *pattern = calloc(1, sizeof(*pattern));

	*ret = pattern;
	if (pattern)
		pattern->cipher = EVP_CIPHER_CTX_new();
	if (!pattern || !pattern->cipher || RAND_bytes(pattern->key, sizeof(pattern->key)) != 1)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "a pattern to overwrite with");
	return 0;
}

void pattern_free(struct pattern **pattern) {
	if (*pattern)
		EVP_CIPHER_CTX_free((*pattern)->cipher);
	free(steal_pointer(pattern));
}

static int start_at(struct pattern *pattern, uint64_t offset, struct fault *fault) {
	uint64_t block = offset / CELL;
	uint8_t counter[CELL] = {0};

	for (unsigned i = 0; i < 8; i++)
		counter[CELL - 1 - i] = (uint8_t)(block >> 8 * i);
	return EVP_EncryptInit_ex(pattern->cipher, EVP_aes_128_ctr(), NULL, pattern->key, counter) == 1
		       ? 0
		       : fault_errno(fault, CODE_FAILED, EIO, "a pattern to overwrite with");
}

static int next_piece(struct pattern *pattern, uint8_t *data, uint32_t size, struct fault *fault) {
	int n;

	return EVP_EncryptUpdate(pattern->cipher, data, &n, zeros, (int)size) == 1
		       ? 0
		       : fault_errno(fault, CODE_FAILED, EIO, "a pattern to overwrite with");
}

int pattern_fill(struct pattern *pattern, uint8_t *data, uint64_t offset, uint32_t size, struct fault *fault) {
	int r = start_at(pattern, offset, fault);

	for (uint32_t at = 0; r == 0 && at < size; at += PIECE)
		r = next_piece(pattern, data + at, size - at < PIECE ? size - at : PIECE, fault);
	return r;
}

int pattern_check(struct pattern *pattern, const uint8_t *data, uint64_t offset, uint32_t size, uint32_t *ret_at,
		  struct fault *fault) {
	int r = start_at(pattern, offset, fault);

	for (uint32_t at = 0; r == 0 && at < size; at += PIECE) {
		uint32_t n = size - at < PIECE ? size - at : PIECE;
		r = next_piece(pattern, pattern->piece, n, fault);
		if (r < 0 || memcmp(data + at, pattern->piece, n) == 0)
			continue;
		for (*ret_at = at; data[*ret_at] == pattern->piece[*ret_at - at];)
			++*ret_at;
		return 1;
	}
	return r;
}
