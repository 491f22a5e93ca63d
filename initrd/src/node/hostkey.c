// SPDX-License-Identifier: Apache-2.0
#include "node/hostkey.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <string.h>

#include "base/cleanup.h"

#define MAGIC "openssh-key-v1" // with its NUL
#define BLOCK 8u	       // the secret part is padded to it
#define COLUMNS 70u
#define HALF 32u   // bytes of the secret and of the public half of an Ed25519 key
#define ROOM 1024u // of a file's or a blob's bytes; an RSA key's public half has 407

// What kind of key it is, and how OpenSSH names it (RFC 4253, 5656, 8709).
static const struct kind {
	const char *name, *algorithm, *curve, *generator;
	size_t bits; // of RSA
} kinds[] = {
	{"ed25519", "ssh-ed25519", NULL, "ED25519", 0},
	{"ecdsa", "ecdsa-sha2-nistp256", "nistp256", "EC", 0},
	{"rsa", "ssh-rsa", NULL, "RSA", 3072},
};

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

static const struct kind *find_kind(const char *name) {
	for (size_t i = 0; i < ELEMENTS(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

static const struct kind *kind_of(const EVP_PKEY *key) {
	for (size_t i = 0; i < ELEMENTS(kinds); i++)
		if (EVP_PKEY_is_a(key, kinds[i].generator))
			return &kinds[i];
	return NULL;
}

int hostkey_make(const char *name, EVP_PKEY **ret, struct fault *fault) {
	const struct kind *kind = find_kind(name);

	if (!kind)
		return fault_set(fault, CODE_USAGE, "kind \"%s\" is not " HOSTKEY_KINDS, name);
	if (kind->curve)
		*ret = EVP_PKEY_Q_keygen(NULL, NULL, kind->generator, "P-256");
	else if (kind->bits)
		*ret = EVP_PKEY_Q_keygen(NULL, NULL, kind->generator, kind->bits);
	else
		*ret = EVP_PKEY_Q_keygen(NULL, NULL, kind->generator);
	return *ret ? 0 : fault_set(fault, CODE_FAILED, "libcrypto cannot make a key of kind %s", name);
}

static void free_number(BIGNUM **n) { BN_free(*n); }

// A positive number of RFC 4251: with a zero before a first byte whose highest bit is set.
static int put_mpint(struct fields *f, const EVP_PKEY *key, const char *name) {
	cleanup_with(free_number) BIGNUM *n = NULL;
	uint8_t bytes[1 + ROOM / 2] = {0};
	int size;

	if (EVP_PKEY_get_bn_param(key, name, &n) != 1 || (size = BN_num_bytes(n)) > (int)sizeof(bytes) - 1)
		return -1;
	(void)BN_bn2bin(n, bytes + 1);
	if (bytes[1] & 0x80)
		put_field(f, bytes, (size_t)size + 1);
	else
		put_field(f, bytes + 1, (size_t)size);
	return 0;
}

static int put_octets(struct fields *f, const EVP_PKEY *key, const char *name) {
	uint8_t bytes[ROOM / 2];
	size_t size = 0;

	if (EVP_PKEY_get_octet_string_param(key, name, bytes, sizeof(bytes), &size) != 1)
		return -1;
	put_field(f, bytes, size);
	OPENSSL_cleanse(bytes, sizeof(bytes));
	return 0;
}

static int put_public(struct fields *f, const EVP_PKEY *key) {
	const struct kind *kind = kind_of(key);

	put_string(f, kind->algorithm);
	if (kind->bits)
		return put_mpint(f, key, OSSL_PKEY_PARAM_RSA_E) < 0 || put_mpint(f, key, OSSL_PKEY_PARAM_RSA_N) < 0 ? -1
														    : 0;
	if (kind->curve)
		put_string(f, kind->curve);
	return put_octets(f, key, OSSL_PKEY_PARAM_PUB_KEY);
}

static void add_base64(const struct fields *f, size_t columns, struct text *text) {
	uint8_t base64[ROOM / 3 * 4 + 8];
	const size_t size = (size_t)EVP_EncodeBlock(base64, f->data, (int)f->size);

	for (size_t at = 0; at < size; at += columns) {
		text_add(text, base64 + at, size - at < columns ? size - at : columns);
		if (columns < sizeof(base64))
			text_adds(text, "\n");
	}
	OPENSSL_cleanse(base64, sizeof(base64));
}

int hostkey_line(const EVP_PKEY *key, struct text *text, struct fault *fault) {
	struct fields f = {0};

	if (put_public(&f, key) < 0)
		return fault_set(fault, CODE_FAILED, "libcrypto cannot write the public half of a key");
	text_addf(text, "%s ", kind_of(key)->algorithm);
	add_base64(&f, ROOM * 2, text);
	return 0;
}

// Returns whether base64 is of the blob of a public key: it has the name of the algorithm first.
static bool is_blob(const char *algorithm, const char *base64, size_t size) {
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t head[ROOM];
	struct fields f = {0};
	size_t at = 0;

	put_string(&f, algorithm);
	at = (size_t)EVP_EncodeBlock(head, f.data, (int)(f.size / 3 * 3));
	if (size < at + 44 || size % 4 || memcmp(base64, head, at))
		return false;
	while (at < size && base64[at] && strchr(digits, base64[at]))
		at++;
	while (at < size && size - at <= 2 && base64[at] == '=')
		at++;
	return at == size;
}

bool hostkey_is_line(const char *text, size_t size) {
	for (size_t i = 0; i < ELEMENTS(kinds) && size <= HOSTKEY_LINE_MAX; i++) {
		const size_t name = strlen(kinds[i].algorithm);
		if (size > name && !memcmp(text, kinds[i].algorithm, name) && text[name] == ' ')
			return is_blob(kinds[i].algorithm, text + name + 1, size - name - 1);
	}
	return false;
}

static int put_secret(struct fields *f, const EVP_PKEY *key) {
	uint8_t halves[2 * HALF];
	size_t secret = HALF, public = HALF;
	uint32_t check; // any number, which the file has twice
	int r;

	if (RAND_bytes((uint8_t *)&check, sizeof(check)) != 1 ||
	    EVP_PKEY_get_raw_private_key(key, halves, &secret) != 1 ||
	    EVP_PKEY_get_raw_public_key(key, halves + HALF, &public) != 1)
		return -1;
	put_number(f, check);
	put_number(f, check);
	r = put_public(f, key);
	put_field(f, halves, sizeof(halves));
	OPENSSL_cleanse(halves, sizeof(halves));
	put_string(f, ""); // comment
	for (uint8_t i = 1; f->size % BLOCK; i++)
		put(f, &i, 1);
	return r;
}

static int add_openssh(const EVP_PKEY *key, struct text *text) {
	cleanup_with(wipe_fields) struct fields f = {0}, public = {0}, secret = {0};

	if (put_public(&public, key) < 0 || put_secret(&secret, key) < 0)
		return -1;
	put(&f, MAGIC, sizeof(MAGIC));
	put_string(&f, "none"); // cipher
	put_string(&f, "none"); // key derivation
	put_string(&f, "");	// its options
	put_number(&f, 1);	// keys
	put_field(&f, public.data, public.size);
	put_field(&f, secret.data, secret.size);
	text_adds(text, "-----BEGIN OPENSSH PRIVATE KEY-----\n");
	add_base64(&f, COLUMNS, text);
	text_adds(text, "-----END OPENSSH PRIVATE KEY-----\n");
	return 0;
}

static void free_file(BIO **file) { BIO_free(*file); } // it overwrites what it frees

static int add_pkcs8(const EVP_PKEY *key, struct text *text) {
	cleanup_with(free_file) BIO *file = BIO_new(BIO_s_secmem());
	char *data;
	long size;

	if (!file || PEM_write_bio_PKCS8PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) != 1)
		return -1;
	size = BIO_get_mem_data(file, &data);
	text_add(text, data, (size_t)size);
	return 0;
}

int hostkey_file(const EVP_PKEY *key, struct text *text, struct fault *fault) {
	const struct kind *kind = kind_of(key);

	if ((kind->curve || kind->bits ? add_pkcs8(key, text) : add_openssh(key, text)) < 0)
		return fault_set(fault, CODE_FAILED, "libcrypto cannot write a key of kind %s", kind->name);
	return 0;
}
