// SPDX-License-Identifier: Apache-2.0
// Has a drive erase itself: all disks of the batch that belong to it.
#pragma once

#include "erase/job.h"

// Sets the result of `leader` and of the jobs that have it as their leader. A command that reaches more than these is
// not taken.
void purge_drive(struct erase_batch *batch, size_t leader);

// Takes the password off an ATA drive that an interrupted Security Erase left on it. Another password is left alone.
void purge_unlock(struct erase_batch *batch, struct erase_job *job);
