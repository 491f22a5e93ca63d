// SPDX-License-Identifier: Apache-2.0
// Where an image is multicast (contract/multicast.md, "Addresses"). Pure.
#pragma once

#include <netinet/in.h>

#include "base/clock.h"
#include "base/fault.h"
#include "multicast/packet.h"

#define GROUP_PORT 7000u
#define SENDER_PORT 7001u

#define DEFAULT_JOIN (350 * MILLISECOND)
#define DEFAULT_SILENCE (2 * SECOND)

struct multicast_address {
	struct sockaddr_in sender;
	int64_t join, silence; // how long a receiver waits for the first packet; for DATA
	uint32_t client;       // the name of this node for the sender; 0: not chosen yet
	uint16_t expected;     // nodes that receive the image now; 0: not known
	bool has_key;
	uint8_t key[SIPHASH_KEY];
};

// Parses "ADDRESS:PORT" or "ADDRESS:PORT/KEY", an IPv4 address and 32 hex digits; sets the default times. Returns an
// error of code 2 for anything else; the fault does not contain the key.
int address_parse(const char *text, struct multicast_address *ret, struct fault *fault);

// Returns the group and port to which the image with this digest is multicast.
struct sockaddr_in address_group(const uint8_t digest[HASH]);

// Derives the key of an image's session from the secret of the site. Returns -EIO if libcrypto fails.
int address_key(const char *secret, size_t size, const uint8_t digest[HASH], uint8_t ret[SIPHASH_KEY]);
