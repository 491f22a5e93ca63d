// SPDX-License-Identifier: Apache-2.0
// How a disk is attached (contract/plan.md, disk selectors).
#pragma once

#include <stdbool.h>

#include "disk/disk.h"

// Sets `transport` and `foreign` of the disk, by its path in sysfs, `real`. "": unknown.
void transport_find(const char *root, const char *real, struct disk *disk);

// The same without reading files: returns "" also for what only an attribute tells.
const char *transport_of_path(const char *real, const char *name);

bool transport_is_word(const char *word);
bool transport_is_local(const char *word);

// Why a disk with this transport is foreign: other machines may reach it, or people move it. "": it is not. A SAS shelf
// that machines share looks like a backplane.
const char *transport_foreign(const char *word);

// Whether the bit "removable" of such a disk means that people carry it away. Of others it marks a hot-swap bay
// (SATA with hot plug on in the firmware), or the driver sets it for each volume (aacraid).
bool transport_may_be_removed(const char *word);

// Returns whether two disks are two paths of one: a dual-path SAS drive, a LUN behind two ports. Equal identities
// alone are no proof: some USB bridges and NVMe drives all have the same.
bool transport_same_disk(const struct disk *a, const struct disk *b);
