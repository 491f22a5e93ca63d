// SPDX-License-Identifier: Apache-2.0
// SSH host keys: Ed25519, in the formats of OpenSSH.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/text.h"

#define HOSTKEY_HALF 32u // bytes of the secret and of the public half
#define HOSTKEY_LINE 80u // "ssh-ed25519 " and the public half in base64

struct hostkey {
	uint8_t secret[HOSTKEY_HALF], public[HOSTKEY_HALF];
};

// Makes a new key. Waits until the kernel has enough randomness.
int hostkey_make(struct hostkey *ret, struct fault *fault);

// Writes the public half as in known_hosts, without a comment.
void hostkey_line(const struct hostkey *key, char ret[HOSTKEY_LINE + 1]);

// Returns whether a text has the form of a line that hostkey_line writes.
bool hostkey_is_line(const char *text, size_t size);

// Adds the private file (openssh-key-v1, not encrypted). `check` is any number; the file has it twice.
void hostkey_file(const struct hostkey *key, uint32_t check, struct text *text);
