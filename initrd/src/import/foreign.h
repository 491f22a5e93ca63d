// SPDX-License-Identifier: Apache-2.0
// What of a virtual machine's disk file is refused before any program reads it. Pure.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/kind.h"

// Returns why a file of that format is not read (it needs another file, a key, or is no whole disk); NULL if it is
// read.
const char *foreign_objection(enum import_kind kind, const uint8_t *head, size_t size);

// The same for formats that are not read at all. Returns NULL if it is none of these.
const char *foreign_unsupported(const uint8_t *head, size_t size, const uint8_t *tail, size_t tail_size);

// Returns whether a file of that size is a raw disk with such a footer of VHD: its last sector is no part of the
// disk.
bool foreign_is_fixed_vhd(const uint8_t *footer, uint64_t bytes);
