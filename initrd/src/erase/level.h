// SPDX-License-Identifier: Apache-2.0
// The levels of an erase, and which methods reach them (contract/erasure.md). Pure functions.
#pragma once

#include "base/fault.h"
#include "erase/state.h"

int erase_level_parse(const char *word, enum erase_level *ret); // -EINVAL: not a level
const char *erase_level_name(enum erase_level level);

// Returns 0 if the level may be reached by that method, else code 2.
int erase_level_check(enum erase_level level, enum erase_method method, struct fault *fault);

// Returns whether the drive is to erase itself: of `auto`, that depends on the level.
bool erase_level_is_command(enum erase_level level, enum erase_method method);
