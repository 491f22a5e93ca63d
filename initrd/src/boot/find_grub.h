// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "boot/bootable.h"

// Sets the entry of each grub.cfg, which must agree. Returns 0, -ENOENT if there is none, or an error of code 3.
int find_grub(const struct boot_places *places, struct bootable *ret, struct fault *fault);
