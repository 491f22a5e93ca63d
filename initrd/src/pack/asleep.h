// SPDX-License-Identifier: Apache-2.0
// Linux that hibernates in swap inside of something else.
#pragma once

#include "pack/clean.h"

#define ASLEEP_HEAD 65536u // the largest page

// Sets *ret if a swap that starts at byte `start` of the disk holds the memory of a system.
int asleep_at(const struct reader *reader, uint64_t start, uint64_t bytes, bool *ret, struct fault *fault);

// Logical volumes of a physical one. One whose metadata cannot be read has no objection.
clean_check asleep_lvm;
