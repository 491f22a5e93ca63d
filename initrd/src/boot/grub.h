// SPDX-License-Identifier: Apache-2.0
// Finds the entry that GRUB starts without a person at its menu. Pure.
//
// It runs the forms that grub-mkconfig and the installers of distributions write. What only GRUB itself can know (its
// devices, its platform, the success of a command) is unknown; so is each variable that depends on it. If the entry,
// its kernel or its arguments depend on something unknown, or on a command that is not known here, there is no answer.
#pragma once

#include "boot/grub_source.h"
#include "boot/variables.h"

#define GRUB_HANDS_OVER 1 // the script is a stub that starts another grub.cfg

// Sets kernel, initrds and arguments of *ret, which the caller frees with `entries`. Returns 0 or GRUB_HANDS_OVER;
// -ENOTSUP, with the reason, if the entry cannot be known or starts no Linux; -ENOMEM.
int grub_find(const char *script, struct variables *variables, const struct grub_source *source,
	      struct entries *entries, struct entry **ret, struct text *reason);
