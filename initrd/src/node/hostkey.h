// SPDX-License-Identifier: Apache-2.0
// SSH host keys: Ed25519, ECDSA (P-256) and RSA (3072 bits), as files that OpenSSH reads.
#pragma once

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "base/text.h"

#define HOSTKEY_KINDS "ed25519, ecdsa or rsa"
#define HOSTKEY_LINE_MAX 560u // bytes of a line, of which RSA's is the longest

// Makes a new key of a kind, one of HOSTKEY_KINDS. Waits until the kernel has enough randomness.
int hostkey_make(const char *kind, EVP_PKEY **ret, struct fault *fault);

// Adds the public half as in known_hosts, without a comment.
int hostkey_line(const EVP_PKEY *key, struct text *text, struct fault *fault);

// Returns whether a text has the form of a line that hostkey_line writes.
bool hostkey_is_line(const char *text, size_t size);

// Adds the private file, not encrypted: PKCS #8, but for Ed25519, of which OpenSSH reads openssh-key-v1 alone.
int hostkey_file(const EVP_PKEY *key, struct text *text, struct fault *fault);
