// SPDX-License-Identifier: Apache-2.0
// Chooses the one partition of a disk that is meant: by its number, part-label:NAME or part-uuid:UUID.
#pragma once

#include "base/fault.h"
#include "disk/disk.h"
#include "disk/partition_type.h"

struct chosen_partition {
	unsigned number;
	struct partition place;
	enum partition_type type;
	char sets[SETS_MAX]; // that it is a member of
};

// Returns an error of code 2 if it is none of the three forms.
int partition_selector_check(const char *text, struct fault *fault);

// `fd`: the disk, or a file of one, which is only read; `name` is for people. Returns an error of code 4 if no
// partition matches or several do, if it holds others, if its bytes are another one's too, or if it shares a set with
// another one of this disk; of code 3 if two readers of the table do not agree where it is.
int partition_choose(int fd, const char *name, uint32_t sector, const char *text, struct chosen_partition *ret,
		     struct fault *fault);
