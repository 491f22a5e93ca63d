// SPDX-License-Identifier: Apache-2.0
// How large a filesystem is, by its own superblock. Pure.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILESYSTEM_HEAD (68u << 10) // bytes of a partition that are read for it

// What may be given a larger partition: it finds all of itself from the start of the partition, and uses nothing behind
// its own size.
bool content_can_grow(const char *content);

// The bytes of a filesystem with that content, as the index of an image names it; `head` holds the first bytes of its
// partition. 0: it is not known.
uint64_t filesystem_bytes(const char *content, const uint8_t *head, size_t size);
