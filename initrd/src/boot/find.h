// SPDX-License-Identifier: Apache-2.0
// What the boot loader of the system installed below a directory starts, without a person at its menu.
#pragma once

#include "boot/bootable.h"

// Returns an error of code 3, with the reason, if it cannot be known or starts no Linux. It never guesses.
int boot_find(const struct boot_places *places, struct bootable *ret, struct fault *fault);
