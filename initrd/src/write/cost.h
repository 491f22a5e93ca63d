// SPDX-License-Identifier: Apache-2.0
// Estimates the time of a full write and of a delta from measured rates. Pure.
//
//   full  = max(fetch / network, used / write, used / decode)
//   delta = used / read + share that differs * full
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Rates are bytes per second, of all cores and streams together.
struct cost {
	uint64_t fetch, used;	  // bytes: of all data frames, of disk
	uint32_t sampled, differ; // chunks
	uint64_t read;		  // rate: read from the disk and hashed
	uint64_t write;		  // rate; 0: unknown, the rate of reading is used
	uint64_t network;	  // rate
	uint64_t decode;	  // rate: decoded and hashed, of used bytes
};

// Returns true if a delta is clearly faster. In doubt a full write is chosen. `why` is one line: the decision, then
// its figures.
bool cost_is_delta(const struct cost *cost, char *why, size_t room);
