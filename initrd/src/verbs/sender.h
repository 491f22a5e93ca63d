// SPDX-License-Identifier: Apache-2.0
// The sender of a folder of images, and what it tells of itself: a text file, which sledd and people read.
#pragma once

#include "net/quota.h"
#include "net/udp.h"
#include "verbs/session.h"
#include "verbs/shelf.h"

#define SESSIONS_MAX 16u
#define NEEDS_MAX 64u // handled between two batches

struct sender {
	struct shelf *shelf;
	char *secret;
	uint32_t cap, from; // kbit/s, nodes
	int fd;
	struct sending *sessions[SESSIONS_MAX];
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

// Writes the file if that is due. Its lines are those of a plan (contract/plan.md): "sender key=value...", then a
// "session" for each image that is sent. A file that cannot be written is reported once and given up.
void sender_tell(struct sender *sender, int64_t now);
