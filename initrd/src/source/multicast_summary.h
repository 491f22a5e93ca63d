// SPDX-License-Identifier: Apache-2.0
// How the multicast of an image went, as a node reports it.
#pragma once

#include <stdint.h>

struct multicast_summary {
	uint64_t bytes; // of frames that came by multicast and were right
	uint64_t packets, lost, dropped;
	uint32_t rejected; // frames that were not right
	uint64_t refused;  // packets that differ from the contract
	uint32_t last;	   // sequence of the last packet that was sent; 0 if none came
	char why[64];	   // why the rest was read from the source; "" if there was none
};
