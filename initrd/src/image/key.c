// SPDX-License-Identifier: Apache-2.0
#include "image/key.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <string.h>

#include "base/cleanup.h"

static void free_key(EVP_PKEY **key) { EVP_PKEY_free(*key); }
static void free_context(EVP_MD_CTX **context) { EVP_MD_CTX_free(*context); }

// False: not Ed25519.
static bool take_public(const EVP_PKEY *key, struct key *ret) {
	size_t size = sizeof(ret->public);

	return EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 &&
	       EVP_PKEY_get_raw_public_key(key, ret->public, &size) == 1;
}

// The next public key of a PEM file. NULL: there is none, or it is of another kind.
static EVP_PKEY *next_public(FILE *file, bool *ret_end) {
	char *name = NULL, *header = NULL;
	unsigned char *data = NULL;
	const unsigned char *p;
	EVP_PKEY *key = NULL;
	long size = 0;

	*ret_end = PEM_read(file, &name, &header, &data, &size) != 1 &&
		   ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
	p = data;
	if (p && !strcmp(name, PEM_STRING_PUBLIC))
		key = d2i_PUBKEY(NULL, &p, size);
	OPENSSL_free(name);
	OPENSSL_free(header);
	OPENSSL_free(data);
	return key;
}

static int read_all(FILE *file, const char *path, struct keys *keys, struct fault *fault) {
	for (;;) {
		bool end;
		cleanup_with(free_key) EVP_PKEY *key = next_public(file, &end);
		if (end && keys->count > 0)
			return 0;
		if (keys->count == KEYS_MAX)
			return fault_set(fault, CODE_FAILED, "%s: more than %u keys", path, KEYS_MAX);
		if (!key || !take_public(key, &keys->items[keys->count]))
			return fault_set(fault, CODE_FAILED,
					 "%s: not Ed25519 public keys in PEM (openssl pkey -pubout makes them)", path);
		keys->count++;
	}
}

int keys_read(const char *path, struct keys *ret, struct fault *fault) {
	cleanup_file FILE *file = fopen(path, "re");
	struct keys keys = {0};
	int r;

	if (!file)
		return fault_errno(fault, CODE_FAILED, errno, "%s: public keys of images", path);
	ERR_clear_error();
	r = read_all(file, path, &keys, fault);
	ERR_clear_error();
	if (r == 0)
		*ret = keys;
	return r;
}

// No prompt for the password of an encrypted key.
static int no_password(char *buffer, int size, int writing, void *context) {
	(void)buffer, (void)size, (void)writing, (void)context;
	return -1;
}

int key_sign(const char *path, const char *statement, uint8_t ret[SIGNATURE], struct fault *fault) {
	cleanup_file FILE *file = fopen(path, "re");
	cleanup_with(free_key) EVP_PKEY *private = file ? PEM_read_PrivateKey(file, NULL, no_password, NULL) : NULL;
	cleanup_with(free_context) EVP_MD_CTX *context = EVP_MD_CTX_new();
	size_t size = SIGNATURE;

	if (!file)
		return fault_errno(fault, CODE_FAILED, errno, "%s: private key", path);
	if (!private || EVP_PKEY_get_base_id(private) != EVP_PKEY_ED25519)
		return fault_set(fault, CODE_FAILED,
				 "%s: not an Ed25519 private key in PEM (openssl genpkey -algorithm ed25519 makes one)",
				 path);
	if (!context || EVP_DigestSignInit(context, NULL, NULL, NULL, private) != 1 ||
	    EVP_DigestSign(context, ret, &size, (const uint8_t *)statement, strlen(statement)) != 1)
		return fault_set(fault, CODE_FAILED, "%s: libcrypto cannot sign with it", path);
	return 0;
}

static bool made_by(const struct key *key, const char *statement, const uint8_t signature[SIGNATURE]) {
	cleanup_with(free_key) EVP_PKEY *public = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key->public,
									      sizeof(key->public));
	cleanup_with(free_context) EVP_MD_CTX *context = EVP_MD_CTX_new();

	return public && context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, public) == 1 &&
	       EVP_DigestVerify(context, signature, SIGNATURE, (const uint8_t *)statement, strlen(statement)) == 1;
}

bool keys_verify(const struct keys *keys, const char *statement, const uint8_t signature[SIGNATURE]) {
	for (size_t i = 0; i < keys->count; i++)
		if (made_by(&keys->items[i], statement, signature))
			return true;
	return false;
}

// Accepts only the text that signature_encode would write, so that each signature has exactly one form.
int signature_decode(const char *base64, uint8_t ret[SIGNATURE]) {
	uint8_t bytes[SIGNATURE + 2];
	char again[89];

	if (strlen(base64) != 88 || EVP_DecodeBlock(bytes, (const uint8_t *)base64, 88) != (int)sizeof(bytes))
		return -EINVAL;
	signature_encode(bytes, again);
	if (strcmp(base64, again) != 0)
		return -EINVAL;
	memcpy(ret, bytes, SIGNATURE);
	return 0;
}

void signature_encode(const uint8_t signature[SIGNATURE], char ret[89]) {
	(void)EVP_EncodeBlock((uint8_t *)ret, signature, SIGNATURE);
}
