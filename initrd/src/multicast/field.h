// SPDX-License-Identifier: Apache-2.0
// Arithmetic in GF(256), polynomial 0x11D, on single bytes and on whole symbols.
#pragma once

#include "multicast/kernels.h"

uint8_t field_times(uint8_t a, uint8_t b);
uint8_t field_inverse(uint8_t a); // a is not 0

// The kernels that this CPU can run, the best one first, the plain one last.
const struct field_kernel *field_kernels(size_t *ret_count);

// With the best one: adds factor * from to `to`; multiplies `bytes` by the factor.
void field_add(uint8_t *to, const uint8_t *from, uint8_t factor, size_t size);
void field_scale(uint8_t *bytes, uint8_t factor, size_t size);
