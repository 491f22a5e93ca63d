// SPDX-License-Identifier: Apache-2.0
// Ed25519 keys of images: PEM files, as `openssl genpkey -algorithm ed25519` makes them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "image/layout.h"
#include "image/statement.h"

#define KEYS_MAX 16u
#define DEFAULT_KEYS "/etc/sled/image.pub" // SLED_KEYS names another file

struct key {
	uint8_t public[32], id[KEY_ID];
};

struct keys {
	size_t count;
	struct key items[KEYS_MAX];
};

// Reads every public key of a PEM file. Code 1 if it cannot be read or contains something else.
int keys_read(const char *path, struct keys *ret, struct fault *fault);

// What is signed: the bytes of a statement, or in version 1 a digest.
struct message {
	size_t size;
	uint8_t data[STATEMENT_MAX];
};

struct message message_of_digest(const uint8_t digest[HASH]);
struct message message_of_statement(const char *text); // which parses

// Signs with the private key of a PEM file. Fills in key id and signature.
int key_sign(const char *path, const struct message *message, uint8_t ret_id[KEY_ID], uint8_t ret_signature[SIGNATURE],
	     struct fault *fault);

// Returns the key that made the signature; NULL: none of them did.
const struct key *keys_verify(const struct keys *keys, const struct message *message,
			      const uint8_t signature[SIGNATURE]);

int signature_decode(const char *base64, uint8_t ret[SIGNATURE]); // -EINVAL
void signature_encode(const uint8_t signature[SIGNATURE], char ret[89]);
