// SPDX-License-Identifier: Apache-2.0
// The bytes of a disk that no table, partition or other known structure claims (contract/image.md, "What a writer
// keeps").
#pragma once

#include "base/extents.h"
#include "disk/reader.h"

// Adds the granules between `start` and `end` that are not zero to `kept`, cut at both ends. Skips the holes of a file.
int unclaimed_keep(const struct reader *reader, uint64_t start, uint64_t end, struct extents *kept,
		   struct fault *fault);

// Adds to *ret the ranges of the first `bytes` bytes that are in no extent. Requires settled extents; the caller checks
// ret->failed.
void unclaimed_of(const struct extents *extents, uint64_t bytes, struct extents *ret);
