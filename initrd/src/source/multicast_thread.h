// SPDX-License-Identifier: Apache-2.0
// The thread of a multicast feed: it receives packets and sends NEEDs, while feed_multicast.c hands out frames.
#pragma once

#include <pthread.h>

#include "multicast/gather_need.h"
#include "multicast/address.h"
#include "net/udp.h"
#include "source/feed.h"
#include "source/multicast_summary.h"

enum multicast_state {
	MULTICAST_RUNS,	   // packets are taken
	MULTICAST_PAUSES,  // frames come from the source, until the image is sent to several nodes
	MULTICAST_RETURNS, // the feed of the source was stopped; multicast runs again when all its frames were returned
	MULTICAST_ENDED,   // the rest comes from the source
};

struct multicast_feed {
	struct feed base;
	struct source *source;
	size_t memory;
	struct multicast_address address;
	struct session session;
	struct multicast_summary *summary;
	uint32_t client;
	int group, sender, wake; // sockets; eventfd
	uint8_t *buffers;
	struct udp_packet *packets;
	pthread_t thread;
	bool has_thread;

	pthread_mutex_t lock; // for what follows
	pthread_cond_t changed;
	struct gather *gather;
	enum multicast_state state;
	bool is_stopped;
	bool heard, answered;		    // since then packets came to the group; to this node
	int64_t opened, started, last_data; // started: when multicast did, last
	int64_t next_alive, alive_every;    // NEEDs while it pauses
	unsigned returns, silences;
	uint8_t *rejected;  // chunks that only the source is read for
	uint32_t held;	    // parcels that were not returned
	struct feed *inner; // of the source; NULL while multicast runs
	uint8_t *inner_wanted;
	uint32_t inside; // threads that wait for the inner feed
};

// Receives packets and sends NEEDs until multicast ended.
int multicast_start(struct multicast_feed *feed, struct fault *fault);

// Frames are taken from packets again. With the lock held, when no parcel is out.
void multicast_return(struct multicast_feed *feed);

// Ends multicast: the rest is read from the source. Requires the lock.
void multicast_end(struct multicast_feed *feed, const char *why);
