// SPDX-License-Identifier: Apache-2.0
// A feed that receives multicast, and reads the source for what does not come: if nobody sends, if this node is alone
// or loses too many packets, and for frames that are not right.
#pragma once

#include "multicast/address.h"
#include "source/feed.h"
#include "source/multicast_summary.h"

// As feed_open_source. `digest` is that of the image; `summary` is filled in when the feed is closed.
int feed_open_multicast(struct source *source, const struct index *index, const uint8_t *wanted, size_t memory,
			const struct multicast_address *address, const uint8_t digest[HASH],
			struct multicast_summary *summary, struct feed **ret, struct fault *fault);
