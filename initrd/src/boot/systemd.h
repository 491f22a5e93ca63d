// SPDX-License-Identifier: Apache-2.0
// Finds the entry that systemd-boot starts without a person at its menu. Pure.
#pragma once

#include "boot/entry.h"

// Moves the counters "+LEFT-DONE" from an entry's id to `tries`, and sets `exhausted`. Returns 0; -ENOMEM.
int systemd_read_tries(struct entry *entry);

// `entries` are those of type 1 whose kernels exist, `images` the names of unified kernel images joined by "/";
// `loader_conf` may be NULL. Sorts the entries. Returns 0; -ENOTSUP, with the reason, if the entry cannot be known or
// starts no Linux.
int systemd_find(struct entries *entries, const char *images, const char *loader_conf, struct entry **ret,
		 struct text *reason);
