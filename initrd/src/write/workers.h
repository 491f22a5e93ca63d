// SPDX-License-Identifier: Apache-2.0
// Frames from a feed onto a disk, by every core: decoded, checked, then written. A chunk that is not the promised one
// is never written.
#pragma once

#include "disk/device.h"
#include "source/feed.h"
#include "write/fit.h"
#include "write/order.h"

struct work {
	struct feed *feed;
	struct device *device;
	const struct index *index;
	const struct fit *fit;
	const struct write_order *order;
	struct progress *progress; // shown `done` of index->used
	uint64_t done;		    // used bytes that are on the disk, or on their way; set before to those that were
	uint64_t written;	    // bytes
};

// Until the feed has no more, or the first fault. Nothing is under way afterwards, nor synced.
int workers_run(struct work *work, struct fault *fault);
