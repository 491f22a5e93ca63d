// SPDX-License-Identifier: Apache-2.0
// Recognises the format of a disk file. Pure.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "import/kind.h"

// By its content, never by its name. `tail`: the last bytes, at most IMPORT_TAIL.
enum import_kind import_recognise(const uint8_t *head, size_t size, const uint8_t *tail, size_t tail_size,
				  const char **ret_why);
