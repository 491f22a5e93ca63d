// SPDX-License-Identifier: Apache-2.0
// Arithmetic in GF(256), polynomial 0x11D, on single bytes and on whole symbols.
#pragma once

#include "multicast/kernels.h"

uint8_t gf256_multiply(uint8_t a, uint8_t b);
uint8_t gf256_inverse(uint8_t a); // a is not 0

// The kernels that this CPU can run, the best one first, the plain one last.
const struct gf256_kernel *gf256_kernels(size_t *ret_count);

// With the best one: adds factor * from to `to`; multiplies `bytes` by the factor.
void gf256_add_multiple(uint8_t *to, const uint8_t *from, uint8_t factor, size_t size);
void gf256_scale(uint8_t *bytes, uint8_t factor, size_t size);
