// SPDX-License-Identifier: Apache-2.0
// Numbers in the form of the contracts: decimal, no sign, no leading zeros.
#pragma once

#include <stdint.h>

#define NUMBER_MAX INT64_MAX // largest number of any contract

// The whole text must be one number of at most `max`. Returns -EINVAL if it is no number in that form; -ERANGE if it
// is larger than max.
int number_parse(const char *text, uint64_t max, uint64_t *ret);
