// SPDX-License-Identifier: Apache-2.0
// The words of the levels (contract/erasure.md).
#pragma once

#include "erase/state.h"

int erase_level_parse(const char *word, enum erase_level *ret); // -EINVAL: not a level
const char *erase_level_name(enum erase_level level);
