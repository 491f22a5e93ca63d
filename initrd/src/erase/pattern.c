// SPDX-License-Identifier: Apache-2.0
#include "erase/pattern.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define CELL 16u // bytes of a block of AES

struct pattern {
	EVP_CIPHER_CTX *cipher;
	uint8_t key[CELL];
};

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

int pattern_fill(struct pattern *pattern, void *data, uint64_t offset, uint32_t size, struct fault *fault) {
	uint64_t block = offset / CELL;
	uint8_t counter[CELL] = {0};
	int n;

	for (unsigned i = 0; i < 8; i++)
		counter[CELL - 1 - i] = (uint8_t)(block >> 8 * i);
	memset(data, 0, size);
	if (EVP_EncryptInit_ex(pattern->cipher, EVP_aes_128_ctr(), NULL, pattern->key, counter) != 1 ||
	    EVP_EncryptUpdate(pattern->cipher, data, &n, data, (int)size) != 1)
		return fault_errno(fault, CODE_FAILED, EIO, "a pattern to overwrite with");
	return 0;
}
