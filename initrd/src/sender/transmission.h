// SPDX-License-Identifier: Apache-2.0
// One image that is sent by one interface.
#pragma once

#include "multicast/carousel_need.h"
#include "multicast/address.h"
#include "source/image_file.h"

#define BATCH_MAX 40u // packets

struct transmission {
	struct image_file file;
	struct session session;
	struct sockaddr_in group;
	int interface;
	struct carousel *carousel;
	int64_t paid; // up to when packets were sent, by the rate
	uint8_t batch[BATCH_MAX * PACKET_MAX];
	uint64_t symbols;		      // of the image
	uint64_t done, rejected;	      // receivers that ended; frames that they refused
	uint64_t multicast_bytes, http_bytes; // that these received
	uint32_t symbols_of;		      // chunk whose frame is in `frame`, and 1; 0: none
	uint8_t *frame;			      // that parity was made of last, padded with zeros to whole symbols
};

// Takes over `file`. `secret`: of the site, or NULL.
int transmission_open(struct image_file *file, int interface, uint32_t cap, uint32_t from, const char *secret,
		      struct transmission **ret, struct fault *fault);
void transmission_close(struct transmission **sending);

// A receiver has ended.
void transmission_note(struct transmission *sending, const struct stats_packet *stats);

// Sends what is due now. Sets *ret_next to the time of the next call.
int transmission_step(struct transmission *sending, int fd, int64_t now, int64_t *ret_next, struct fault *fault);
