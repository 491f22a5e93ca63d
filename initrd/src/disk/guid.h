// SPDX-License-Identifier: Apache-2.0
// GUIDs as a GPT stores them: the first three parts of the text are little-endian. Pure functions.
#pragma once

#include <stdint.h>

#define GUID_BYTES 16u
#define GUID_TEXT 37u // characters, with the NUL

// `text`: a UUID in lower case (check_uuid).
void guid_parse(const char *text, uint8_t ret[GUID_BYTES]);
void guid_write(const uint8_t guid[GUID_BYTES], char ret[GUID_TEXT]);

// Makes a GUID of 16 bytes of a hash: a UUID of version 8 (RFC 9562).
void guid_of_hash(const uint8_t *hash, uint8_t ret[GUID_BYTES]);
