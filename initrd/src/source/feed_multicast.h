// SPDX-License-Identifier: Apache-2.0
// A feed that receives multicast, and reads the source for what does not come: if nobody sends, if this node is alone
// or loses too many packets, and for frames that are not right.
#pragma once

#include "multicast/place.h"
#include "source/feed.h"

struct multicast_told {
	uint64_t bytes;	   // of frames that came by multicast and were right
	uint64_t packets, lost, dropped;
	uint32_t rejected; // frames that were not right
	uint64_t refused;  // packets that differ from the contract
	uint32_t last;	   // sequence of the last packet that was sent; 0 if none came
	char why[64];	   // why the rest was read from the source; "" if there was none
};

// As feed_open_source. `digest` is that of the image; `told` is filled in when the feed is closed.
int feed_open_multicast(struct source *source, const struct index *index, const uint8_t *wanted, size_t memory,
			const struct place *place, const uint8_t digest[HASH], struct multicast_told *told,
			struct feed **ret, struct fault *fault);
