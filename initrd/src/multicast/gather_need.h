// SPDX-License-Identifier: Apache-2.0
// What a receiver requests, and when (contract/multicast.md, "Receiver"). Pure.
#pragma once

#include "multicast/gather.h"

// Fills in the next NEED. Returns false if none is due, at least until gather->next_need.
bool gather_need(struct gather *gather, int64_t now, struct packet *ret);

// A NEED without entries: the node is there, and frames come to it in another way.
void gather_alive(struct gather *gather, int64_t now, struct packet *ret);
