// SPDX-License-Identifier: Apache-2.0
// SipHash-2-4: a keyed hash of short messages. Pure.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SIPHASH_KEY 16u // bytes

// Returns the SipHash of `head` and `tail`, one after the other. Requires a `head_size` that is a multiple of 8.
uint64_t siphash(const uint8_t key[SIPHASH_KEY], const uint8_t *head, size_t head_size, const uint8_t *tail,
		 size_t tail_size);
