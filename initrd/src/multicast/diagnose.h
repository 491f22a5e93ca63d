// SPDX-License-Identifier: Apache-2.0
// What is likely wrong when multicast does not arrive, from what a node saw. Pure.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sighting {
	bool closed;		// the sender's port: its machine answers that nothing listens
	bool answered;		// an ANNOUNCE came to this node
	bool alone;		// the sender wants more clients than were pretended
	bool routed;		// the sender is behind a router
	bool on_wire;		// the interface saw packets to the group, whether or not a program gets them
	bool querier;		// a query for members of groups came
	uint64_t packets, lost; // DATA that came to the group
};

// Writes one line: that it works, or what is likely wrong. Returns true if it works.
bool diagnose(const struct sighting *seen, char *ret, size_t room);
