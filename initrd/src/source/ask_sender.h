// SPDX-License-Identifier: Apache-2.0
// Asks the sender of an image at what rate it sends, before anything is received.
#pragma once

#include "multicast/address.h"

// Bytes of frames per second that come by multicast. 0: no answer within address->join, or this node is alone. Sets
// address->client, by which the sender knows the node: one with two names would count as two.
uint64_t ask_sender_rate(struct multicast_address *address, const uint8_t digest[HASH]);
