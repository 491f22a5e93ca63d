// SPDX-License-Identifier: Apache-2.0
// Temporary files without a name, for pack: they disappear with the process, however it ends.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

// Creates one in that folder. Returns the file descriptor.
int scratch_open(const char *folder, struct fault *fault);

// Writes at `at`, but leaves holes where whole pages are zero.
int scratch_write(int fd, const void *data, size_t size, uint64_t at, struct fault *fault);

// Copies a range of another file, holes as holes.
int scratch_copy(int fd, uint64_t at, int from, uint64_t start, uint64_t bytes, struct fault *fault);
