// SPDX-License-Identifier: Apache-2.0
// Follows a sanitize, of whatever kind of drive, until it ends or has to be given up. Pure functions.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SANITIZE_UNKNOWN 0xffffffffu // seconds: the drive estimates nothing
#define SANITIZE_WHOLE 65536u	     // progress is a part of that

struct sanitize_watch {
	int64_t started, changed; // of the clock; changed: when it was last further than ever before
	int64_t stall, limit;	  // how long it may stay where it is, and take as a whole
	uint32_t furthest;
};

enum sanitize_verdict {
	SANITIZE_AT_WORK,
	SANITIZE_STUCK,	   // the drive has reported no progress for `stall`
	SANITIZE_TOO_LONG, // it is at work for longer than `limit`: progress that comes and goes, for instance
};

// `seconds`: how long the drive estimates it takes.
void sanitize_begin(struct sanitize_watch *watch, uint32_t seconds, int64_t now);

enum sanitize_verdict sanitize_step(struct sanitize_watch *watch, uint32_t progress, int64_t now);

// When to ask next: soon at first, at most every ten seconds.
int64_t sanitize_next(const struct sanitize_watch *watch, int64_t now);
