// SPDX-License-Identifier: Apache-2.0
// Writes the frames of a feed to a disk, with one thread per core: each decodes, checks and writes. A chunk that fails
// the check is never written.
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
	struct progress *progress; // of `done` of index->used
	uint64_t done;		   // used bytes that are written or submitted; starts at those that were there
	uint64_t written;	   // bytes
};

// Runs until the end of the feed, or the first fault. Afterwards no write is pending; nothing is synced.
int workers_run(struct work *work, struct fault *fault);
