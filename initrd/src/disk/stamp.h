// SPDX-License-Identifier: Apache-2.0
// The stamp of a disk: which plan of which store wrote it (contract/plan.md, Stamps). One line of text, and zeroes, in
// the last granule of the first MiB. A write zeroes it with all of that MiB, so half an image has none.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "disk/device.h"

#define STAMP_BYTES 4096u
#define STAMP_AT (BLOCK - STAMP_BYTES)
#define STAMP_UUID 36u
#define STAMP_MAC 17u

struct stamp {
	char fleet[STAMP_UUID + 1], epoch[STAMP_UUID + 1], mac[STAMP_MAC + 1];
	uint64_t generation, run; // 0: none, in what a plan knows
};

// Parses FLEET/EPOCH/MAC/GENERATION/RUN, the value of an operand.
int stamp_parse(const char *value, struct stamp *ret, struct fault *fault);

// Returns whether these STAMP_BYTES are a stamp.
bool stamp_read(const uint8_t *granule, struct stamp *ret);

// Returns whether the disk is ahead of a store that knows `known`: the epoch is compared first.
bool stamp_is_ahead(const struct stamp *disk, const struct stamp *known);

// Returns an error of code 4 if the disk is ahead of `value`. NULL, or a disk without a stamp: it is not.
int stamp_admit(struct device *device, const char *value, struct fault *fault);

// Stamps the disk. Returns an error of code 3 if the place is not free: it is smaller than 1 MiB, has no partition, a
// partition or other bytes are there.
int stamp_put(struct device *device, const char *value, struct fault *fault);
