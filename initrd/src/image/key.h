// SPDX-License-Identifier: Apache-2.0
// Ed25519 keys of images: PEM files, as `openssl genpkey -algorithm ed25519` makes them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define KEYS_MAX 16u
#define SIGNATURE 64u			   // bytes
#define DEFAULT_KEYS "/etc/sled/image.pub" // SLED_KEYS names another file

struct key {
	uint8_t public[32];
};

struct keys {
	size_t count;
	struct key items[KEYS_MAX];
};

// Reads every public key of a PEM file. Returns an error of code 1 if it cannot be read or contains something else.
int keys_read(const char *path, struct keys *ret, struct fault *fault);

// Signs a statement with the private key of a PEM file.
int key_sign(const char *path, const char *statement, uint8_t ret[SIGNATURE], struct fault *fault);

// Returns whether one of the keys made the signature.
bool keys_verify(const struct keys *keys, const char *statement, const uint8_t signature[SIGNATURE]);

int signature_decode(const char *base64, uint8_t ret[SIGNATURE]); // -EINVAL
void signature_encode(const uint8_t signature[SIGNATURE], char ret[89]);
