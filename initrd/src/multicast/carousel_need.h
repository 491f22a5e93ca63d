// SPDX-License-Identifier: Apache-2.0
// What a sender does with NEEDs, and what it announces (contract/multicast.md, "Sender"). Pure.
#pragma once

#include "multicast/carousel.h"

// Takes a NEED. Returns true if `ret` is the ANNOUNCE to answer it with.
bool carousel_need(struct carousel *carousel, const struct packet *need, int64_t now, struct packet *ret);

// The ANNOUNCE to the group, if one is due. Also adapts the rate: to be called at least every 50 ms.
bool carousel_announce(struct carousel *carousel, int64_t now, struct packet *ret);

void carousel_use_cap(struct carousel *carousel, uint32_t cap); // another one, in kbit/s

bool carousel_is_over(const struct carousel *carousel, int64_t now); // nobody sent a NEED for 60 s
