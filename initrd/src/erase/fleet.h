// SPDX-License-Identifier: Apache-2.0
// Several disks side by side, a thread for each. One that fails does not stop the others.
#pragma once

#include "base/progress.h"
#include "disk/disk.h"
#include "erase/drive.h"
#include "erase/record.h"
#include "erase/state.h"

struct erase_job {
	struct progress progress; // first: fleet.c finds the job by it
	struct disk disk;
	struct device device; // open, unless result is not ERASED yet
	struct erase erase;
	enum erase_result result;
	struct fault fault; // why it failed or was left out
	struct erase_fleet *fleet;
	size_t leader;	     // the first disk of its drive: a command of the drive is for all of them
	void *drive_context; // of drive_ops, in tests
};

struct erase_fleet {
	size_t count;
	struct erase_job *jobs;
	void (*show)(const struct progress *); // gets the sum of all
	const struct drive_ops *drive_ops;     // NULL: no commands of drives
};

// Erases every disk whose result is ERASED so far, and sets the result of each.
int fleet_erase(struct erase_fleet *fleet, struct fault *fault);

// The worst of the results: 5 before 1 before 3; 4 only if no disk was touched.
enum exit_code fleet_code(const struct erase_fleet *fleet);

// "empty: 3 disks by discard; left out: sdb (on the keep list)"; in case of a fault, the disks that failed come first.
void fleet_describe(const struct erase_fleet *fleet, enum erase_level level, struct text *text);
void fleet_free(struct erase_fleet *fleet);
