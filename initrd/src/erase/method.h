// SPDX-License-Identifier: Apache-2.0
// How a disk is erased: by writing, or by a command of the drive (contract/erasure.md). Pure functions.
#pragma once

#include "base/fault.h"
#include "erase/state.h"

int method_parse(const char *word, enum erase_method *ret); // -EINVAL: not a method
const char *method_name(enum erase_method method);

// Whether the level may be reached by that method. Code 2 if not.
int method_check(enum erase_level level, enum erase_method method, struct fault *fault);

// Whether the drive is to erase itself: of `auto`, that depends on the level.
bool method_is_command(enum erase_level level, enum erase_method method);
