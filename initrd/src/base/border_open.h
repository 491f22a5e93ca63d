// SPDX-License-Identifier: Apache-2.0
// How the parts of base/border.h open files.
#pragma once

#include <stdbool.h>

#include "base/fault.h"

struct border;

// Fills in the fault for a path: its code is that of the error. Returns -errno.
int border_fault(struct fault *fault, int error, const char *path);

// Opens a path below the folder. Returns a descriptor or -errno, -EXDEV for what cannot be mounted here.
int border_openat(const struct border *border, const char *path, int flags);

// Whether an error means that the path leads to nothing.
bool border_is_missing(int error);
