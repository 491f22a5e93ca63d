// SPDX-License-Identifier: Apache-2.0
// What an interface sees of a multicast group, before any firewall: UDP to the group, and queries for members. Needs
// CAP_NET_RAW.
#pragma once

#include <netinet/in.h>
#include <stdbool.h>

#include "base/fault.h"

struct sniff {
	int fd;		 // -1: not open
	bool udp, query; // seen
};

// Opens a socket on the interface with that address. Returns an error of code 1 without the capability.
int sniff_open(struct in_addr local, struct sniff *ret, struct fault *fault);
void sniff_close(struct sniff *sniff); // for cleanup_with

void sniff_look(struct sniff *sniff, struct in_addr group);				      // at what has come
bool sniff_sees(const uint8_t *packet, size_t size, struct in_addr group, struct sniff *ret); // an IP packet; pure
