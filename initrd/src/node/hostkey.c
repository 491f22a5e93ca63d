// SPDX-License-Identifier: Apache-2.0
#include "node/hostkey.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

#include "base/cleanup.h"

#define ALGORITHM "ssh-ed25519"
#define MAGIC "openssh-key-v1" // with its NUL
#define BLOCK 8u	       // the secret part is padded to it
#define COLUMNS 70u
#define ROOM 512u // of a file's bytes; with one key it has fewer than 256

// A file under construction. Numbers are big-endian, and each field has its length before it.
struct fields {
	uint8_t data[ROOM];
	size_t size;
};

static void put(struct fields *f, const void *data, size_t size) {
	memcpy(f->data + f->size, data, size);
	f->size += size;
}

static void put_number(struct fields *f, uint32_t n) {
	const uint8_t bytes[] = {(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
	put(f, bytes, sizeof(bytes));
}

static void put_field(struct fields *f, const void *data, size_t size) {
	put_number(f, (uint32_t)size);
	put(f, data, size);
}

static void put_string(struct fields *f, const char *string) { put_field(f, string, strlen(string)); }

static void wipe_fields(struct fields *f) { OPENSSL_cleanse(f, sizeof(*f)); }

static void put_public(struct fields *f, const struct hostkey *key) {
	put_string(f, ALGORITHM);
	put_field(f, key->public, sizeof(key->public));
}

static void put_secret(struct fields *f, const struct hostkey *key, uint32_t check) {
	put_number(f, check);
	put_number(f, check);
	put_public(f, key);
	put_number(f, 2 * HOSTKEY_HALF);
	put(f, key->secret, sizeof(key->secret));
	put(f, key->public, sizeof(key->public));
	put_string(f, ""); // comment
	for (uint8_t i = 1; f->size % BLOCK; i++)
		put(f, &i, 1);
}

static void free_key(EVP_PKEY **key) { EVP_PKEY_free(*key); }

int hostkey_make(struct hostkey *ret, struct fault *fault) {
	cleanup_with(free_key) EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	size_t secret = sizeof(ret->secret), public = sizeof(ret->public);

	if (!key || EVP_PKEY_get_raw_private_key(key, ret->secret, &secret) != 1 ||
	    EVP_PKEY_get_raw_public_key(key, ret->public, &public) != 1)
		return fault_set(fault, CODE_FAILED, "libcrypto cannot make an Ed25519 key");
	return 0;
}

void hostkey_line(const struct hostkey *key, char ret[HOSTKEY_LINE + 1]) {
	struct fields f = {0};

	put_public(&f, key);
	memcpy(ret, ALGORITHM " ", sizeof(ALGORITHM));
	(void)EVP_EncodeBlock((uint8_t *)ret + sizeof(ALGORITHM), f.data, (int)f.size);
}

bool hostkey_is_line(const char *text, size_t size) {
	static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	if (size != HOSTKEY_LINE || memcmp(text, ALGORITHM " ", sizeof(ALGORITHM)))
		return false;
	for (size_t i = sizeof(ALGORITHM); i < size; i++)
		if (!text[i] || !strchr(base64, text[i]))
			return false;
	return true;
}

void hostkey_file(const struct hostkey *key, uint32_t check, struct text *text) {
	cleanup_with(wipe_fields) struct fields f = {0}, public = {0}, secret = {0};
	char base64[ROOM * 2];
	size_t size;

	put_public(&public, key);
	put_secret(&secret, key, check);
	put(&f, MAGIC, sizeof(MAGIC));
	put_string(&f, "none"); // cipher
	put_string(&f, "none"); // key derivation
	put_string(&f, "");	// its options
	put_number(&f, 1);	// keys
	put_field(&f, public.data, public.size);
	put_field(&f, secret.data, secret.size);
	size = (size_t)EVP_EncodeBlock((uint8_t *)base64, f.data, (int)f.size);
	text_adds(text, "-----BEGIN OPENSSH PRIVATE KEY-----\n");
	for (size_t at = 0; at < size; at += COLUMNS) {
		text_add(text, base64 + at, size - at < COLUMNS ? size - at : COLUMNS);
		text_adds(text, "\n");
	}
	text_adds(text, "-----END OPENSSH PRIVATE KEY-----\n");
	OPENSSL_cleanse(base64, sizeof(base64));
}
