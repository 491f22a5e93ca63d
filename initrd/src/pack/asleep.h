// SPDX-License-Identifier: Apache-2.0
// Linux put its memory into swap and is off: the kernel, uswsusp, TuxOnIce. It would continue on every node, with files
// of its memory that are not those of the disk. A btrfs that was mounted then does not show it.
#pragma once

#include "pack/clean.h"

#define ASLEEP_HEAD 65536u // the largest page

// Whether these are the first bytes of such a swap. Pure.
bool asleep_in(const uint8_t *head, size_t size);

// Sets *ret if a swap that starts at byte `start` of the disk holds the memory of a system.
int asleep_at(const struct reader *reader, uint64_t start, uint64_t bytes, bool *ret, struct fault *fault);

// Logical volumes of a physical one. One whose metadata cannot be read has no objection.
clean_check asleep_lvm;
