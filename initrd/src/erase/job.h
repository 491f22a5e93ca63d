// SPDX-License-Identifier: Apache-2.0
// One disk of a wipe, and all of them.
#pragma once

#include "base/progress.h"
#include "disk/disk.h"
#include "drive/drive.h"
#include "erase/record.h"
#include "erase/state.h"

struct erase_job {
	struct progress progress; // first: batch.c finds the job by it
	struct disk disk;
	struct device device; // open, unless result is not ERASED yet
	struct erase erase;
	enum erase_result result;
	struct fault fault; // why it failed or was left out
	struct erase_batch *batch;
	size_t leader;	     // the first disk of its drive: a command of the drive is for all of them
	void *drive_context; // of drive_ops, in tests
};

struct erase_batch {
	size_t count;
	struct erase_job *jobs;
	void (*show)(const struct progress *); // gets the sum of all
	const struct drive_ops *drive_ops;     // NULL: no commands of drives
	const char *psids;		       // of drives of Opal (psids.h); NULL: none is known
};
