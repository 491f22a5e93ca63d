// SPDX-License-Identifier: Apache-2.0
// Has a drive erase itself: all disks of the fleet that belong to it.
#pragma once

#include "erase/job.h"

// Sets the result of `leader` and of the jobs that have it as their leader. A command that reaches more than these is
// not taken.
void purge_drive(struct erase_fleet *fleet, size_t leader);
