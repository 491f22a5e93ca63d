// SPDX-License-Identifier: Apache-2.0
#include "image/verity.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

// Offsets in the superblock of a squashfs (4.0), and of dm-verity (version 1).
enum { SQUASHFS_BYTES = 40 };
enum {
	VERSION = 8,
	TYPE = 12,
	ALGORITHM = 32,
	DATA_BLOCK = 64,
	HASH_BLOCK = 68,
	BLOCKS = 72,
	SALT_SIZE = 80,
	SALT = 88
};

static int none(struct fault *fault, const char *why) {
	return fault_set(fault, CODE_UNSUPPORTED, "the image has no dm-verity tree that is supported: %s", why);
}

int verity_find(const uint8_t head[SQUASHFS_HEAD], uint64_t image_bytes, uint64_t *ret_at, struct fault *fault) {
	uint64_t bytes = get_le64(head + SQUASHFS_BYTES);

	if (memcmp(head, "hsqs", 4) != 0)
		return none(fault, "it is not a squashfs");
	if (bytes > image_bytes || image_bytes > DISK_MAX)
		return none(fault, "the squashfs is longer than the image");
	bytes = (bytes + VERITY_BLOCK - 1) / VERITY_BLOCK * VERITY_BLOCK;
	if (bytes == 0 || bytes + VERITY_HEAD > image_bytes)
		return none(fault, "it ends behind the squashfs");
	*ret_at = bytes;
	return 0;
}

// Blocks of the tree for so many blocks of data: each has the hashes of 128.
static uint64_t tree_blocks(uint64_t blocks) {
	uint64_t sum = 0;

	while (blocks > 1)
		sum += blocks = (blocks + VERITY_BLOCK / HASH - 1) / (VERITY_BLOCK / HASH);
	return sum;
}

static int hash_salted(const uint8_t *salt, size_t salt_size, const uint8_t *block, uint8_t ret[HASH]) {
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	int right = context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1 &&
		    EVP_DigestUpdate(context, salt, salt_size) == 1 &&
		    EVP_DigestUpdate(context, block, VERITY_BLOCK) == 1 && EVP_DigestFinal_ex(context, ret, NULL) == 1;

	EVP_MD_CTX_free(context);
	return right ? 0 : -1;
}

int verity_parse(const uint8_t head[VERITY_HEAD], uint64_t at, uint64_t image_bytes, struct verity *ret,
		 struct fault *fault) {
	struct verity verity = {.at = at, .blocks = get_le64(head + BLOCKS)};

	if (memcmp(head, "verity\0", 8) != 0 || get_le32(head + VERSION) != 1)
		return none(fault, "there is no superblock behind the squashfs");
	if (get_le32(head + TYPE) != 1 || memcmp(head + ALGORITHM, "sha256\0", 7) != 0 ||
	    get_le32(head + DATA_BLOCK) != VERITY_BLOCK || get_le32(head + HASH_BLOCK) != VERITY_BLOCK)
		return none(fault, "want hash type 1, SHA-256, and blocks of 4096 bytes");
	if (verity.blocks < 2 || verity.blocks != at / VERITY_BLOCK)
		return none(fault, "it is not of the whole squashfs, of two blocks or more");
	if (at + VERITY_BLOCK + tree_blocks(verity.blocks) * VERITY_BLOCK > image_bytes)
		return none(fault, "it was cut off");
	verity.salt_size = (uint16_t)get_le16(head + SALT_SIZE);
	if (verity.salt_size > VERITY_SALT)
		return none(fault, "the salt is too long");
	memcpy(verity.salt, head + SALT, verity.salt_size);
	if (hash_salted(verity.salt, verity.salt_size, head + VERITY_BLOCK, verity.root) < 0)
		return fault_set(fault, CODE_FAILED, "libcrypto: no SHA-256");
	*ret = verity;
	return 0;
}

static void hex(const uint8_t *data, size_t size, char *ret) {
	for (size_t i = 0; i < size; i++)
		snprintf(ret + 2 * i, 3, "%02x", data[i]);
}

void verity_table(const struct verity *verity, const char *device, char ret[VERITY_TABLE_MAX]) {
	char root[2 * HASH + 1], salt[2 * VERITY_SALT + 1] = "-";

	hex(verity->root, HASH, root);
	hex(verity->salt, verity->salt_size, salt);
	snprintf(ret, VERITY_TABLE_MAX, "1 %s %s %u %u %llu %llu sha256 %s %s", device, device, VERITY_BLOCK,
		 VERITY_BLOCK, (unsigned long long)verity->blocks, (unsigned long long)(verity->at / VERITY_BLOCK + 1),
		 root, salt);
}
