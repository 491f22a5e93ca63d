// SPDX-License-Identifier: Apache-2.0
// The places that verify=sample reads: from a seed that anybody can repeat (contract/erasure.md). Pure functions.
#pragma once

#include <stdint.h>

#define SAMPLE 4096u	    // bytes of each
#define SAMPLES_LEAST 1024u // of a disk
#define SEED 32u	    // bytes

// One per GiB, at least SAMPLES_LEAST. `bytes` is at least SAMPLE times that.
uint64_t samples_count(uint64_t bytes);

// Offset of sample i of n: the disk is divided into n equal parts, and the place within part i follows from the first 8
// bytes, big-endian, of SHA-256(seed, i as 8 bytes, big-endian).
uint64_t samples_offset(const uint8_t seed[SEED], uint64_t bytes, uint64_t n, uint64_t i);
