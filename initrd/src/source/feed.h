// SPDX-License-Identifier: Apache-2.0
// Delivers data frames in any order: the seam between transports and decoders. One implementation reads ranges of a
// source, another receives multicast (source/feed_multicast.h).
#pragma once

#include "image/index.h"
#include "source/source.h"

// The data frame of one chunk, as received: not checked yet.
struct parcel {
	const struct chunk *chunk;
	uint8_t *frame; // chunk->frame bytes; valid until feed_return
};

struct feed;

struct feed_ops {
	// Waits for a frame. *ret NULL: every wanted chunk was delivered. Called from any thread.
	int (*next)(struct feed *, struct parcel **ret, struct fault *);
	void (*give_back)(struct feed *, struct parcel *); // its memory may be reused
	// A frame that is not right, in place of give_back. 0: the chunk will come again. Else `error`: it cannot.
	int (*reject)(struct feed *, struct parcel *, int error);
	void (*stop)(struct feed *);  // all calls of next end with -ECANCELED from now on
	void (*close)(struct feed *); // no other thread may use it; invalidates parcels that were not returned
};

struct feed {
	const struct feed_ops *ops;
};

// Delivers the frames of the chunks whose bit in `wanted` is set (bit i: index->chunks[i]); NULL: of all. `streams`
// connections (0: as many as suit the source) request long ranges, which skip unwanted chunks. Frames take at most
// `memory` bytes, including parcels that are not returned yet, but there are at least two.
int feed_open_source(struct source *source, const struct index *index, const uint8_t *wanted, unsigned streams,
		     size_t memory, struct feed **ret, struct fault *fault);

static inline int feed_next(struct feed *feed, struct parcel **ret, struct fault *fault) {
	return feed->ops->next(feed, ret, fault);
}
static inline void feed_stop(struct feed *feed) { feed->ops->stop(feed); }
static inline void feed_return(struct feed *feed, struct parcel *parcel) { feed->ops->give_back(feed, parcel); }
static inline int feed_reject(struct feed *feed, struct parcel *parcel, int error) {
	return feed->ops->reject(feed, parcel, error);
}
void feed_close(struct feed **feed); // for cleanup_with; *feed may be NULL
