// SPDX-License-Identifier: Apache-2.0
// Bytes that no drive can compress or know in advance: AES-128 in counter mode, the block number as the counter, with
// a key that is forgotten when the process ends.
#pragma once

#include <stdint.h>

#include "base/fault.h"

struct pattern;

int pattern_new(struct pattern **ret, struct fault *fault);
void pattern_free(struct pattern **pattern);

// The bytes of [offset, offset + size); both are multiples of 16, size at most 1 MiB.
int pattern_fill(struct pattern *pattern, uint8_t *data, uint64_t offset, uint32_t size, struct fault *fault);

// 0: `data` holds these bytes. 1: the first that differs is data[*ret_at].
int pattern_check(struct pattern *pattern, const uint8_t *data, uint64_t offset, uint32_t size, uint32_t *ret_at,
		  struct fault *fault);
