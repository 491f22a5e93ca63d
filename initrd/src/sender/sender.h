// SPDX-License-Identifier: Apache-2.0
// The multicast sender of a folder of images. Its state is a text file, which sledd and people read.
#pragma once

#include "net/quota.h"
#include "net/udp.h"
#include "sender/image_folder.h"
#include "sender/transmission.h"

#define SESSIONS_MAX 16u
#define NEEDS_MAX 64u // handled between two batches

struct sender {
	struct image_folder *folder;
	char *secret;
	uint32_t cap, from; // kbit/s, nodes
	int fd;
	struct transmission *sessions[SESSIONS_MAX];
	uint32_t count;
	int64_t last_need;
	struct quota *quota;
	struct udp_packet packets[NEEDS_MAX];
	uint8_t *buffers;
	uint64_t refused[REFUSALS]; // packets, by reason; REFUSED_SESSION: of unknown images, too
	uint64_t limited;	    // packets of addresses that sent too many
	const char *state;	    // file; NULL: none
	int64_t next_state;
};

// Sends to all that request an image, until nobody has for a minute. Writes `state` every second: lines as in a plan
// (contract/plan.md), "sender key=value...", then a "session" for each image that is sent. A file that cannot be
// written is reported once and given up.
void sender_serve(struct sender *sender);

// Ends all sessions, removes the state and frees what the sender owns.
void sender_close(struct sender *sender);
