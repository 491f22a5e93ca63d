// SPDX-License-Identifier: Apache-2.0
// What the disks of a machine hide, as a fact of each (contract/report.md).
#pragma once

#include "disk/disk.h"
#include "drive/drive.h"

// Asks all of them side by side, by their files below `root`/dev: ATA drives alone, by commands that change nothing. A
// drive that does not answer hides nothing that is known.
int hidden_read(const char *root, const struct drive_ops *ops, struct disks *disks, struct fault *fault);
