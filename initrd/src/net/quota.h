// SPDX-License-Identifier: Apache-2.0
// Limits what each address may send. Of 4,096 addresses; the one that was silent for longest is forgotten. Pure.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define QUOTA_WAYS 8u
#define QUOTA_BUCKETS 512u

struct quota {
	struct {
		uint32_t address, taken;
		int64_t since; // start of the second in which `taken` were
	} rows[QUOTA_BUCKETS][QUOTA_WAYS];
};

// Counts one more packet. Returns false if the address had `most` within a second.
bool quota_take(struct quota *quota, uint32_t address, uint32_t most, int64_t now);
