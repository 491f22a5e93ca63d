// SPDX-License-Identifier: Apache-2.0
// Where data frames come from, in whatever order: the seam between transports and the decoders. One implementation
// reads ranges of a source; another may receive multicast.
#pragma once

#include "image/index.h"
#include "source/source.h"

// One chunk's data frame, as it came: not yet checked.
struct parcel {
	const struct chunk *chunk;
	uint8_t *frame; // chunk->frame bytes; the feed's, until feed_return
};

struct feed;

struct feed_ops {
	// Waits for a frame. *ret NULL: every wanted chunk was handed out. Called from any thread.
	int (*next)(struct feed *, struct parcel **ret, struct fault *);
	void (*give_back)(struct feed *, struct parcel *); // its memory may be used again
	void (*stop)(struct feed *); // next ends with -ECANCELED for those who wait, and from here on
	void (*close)(struct feed *); // once nobody else uses it; parcels not given back are gone
};

struct feed {
	const struct feed_ops *ops;
};

// Frames, in any order, of the chunks whose bit in `wanted` is set (bit i: index->chunks[i]); NULL: of all. `streams`
// connections (0: as many as suit the source) ask for long ranges that step over what is not wanted. At most `memory`
// bytes of frames are held, by the feed and by who has not given them back; at least two frames.
int feed_open_source(struct source *source, const struct index *index, const uint8_t *wanted, unsigned streams,
		     size_t memory,
		     struct feed **ret, struct fault *fault);

static inline int feed_next(struct feed *feed, struct parcel **ret,
			    struct fault *fault) { return feed->ops->next(feed, ret, fault); }
static inline void feed_stop(struct feed *feed) { feed->ops->stop(feed); }
static inline void feed_return(struct feed *feed, struct parcel *parcel) { feed->ops->give_back(feed, parcel); }
void feed_close(struct feed **feed); // for cleanup_with; *feed may be NULL
