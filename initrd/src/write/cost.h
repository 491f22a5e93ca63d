// SPDX-License-Identifier: Apache-2.0
// What a full write and a delta would take, from measured rates. Pure.
//
//   full  = max(fetch / network, used / write, used / decode)
//   delta = used / read + share that differs * full
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Rates are bytes a second, of all cores and streams together.
struct cost {
	uint64_t fetch, used;	  // bytes: of all data frames, of disk
	uint32_t sampled, differ; // chunks
	uint64_t read;		  // rate: read from the disk and hashed
	uint64_t write;		  // rate; 0: not known, taken to be that of reading
	uint64_t network;	  // rate
	uint64_t decode;	  // rate: decoded and hashed, of used bytes
};

// True: delta takes clearly less. In doubt a full write is made. `why` is one line: the answer, then the figures it
// comes from.
bool cost_is_delta(const struct cost *cost, char *why, size_t room);
