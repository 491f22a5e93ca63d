// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "boot/entry.h"

// What a script takes from its folder.
struct grub_source {
	char *(*read)(void *context, const char *name);		    // NULL: there is no such file
	int (*add_entries)(void *context, struct entries *entries); // those of blscfg, in order
	void *context;
};
