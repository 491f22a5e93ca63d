// SPDX-License-Identifier: Apache-2.0
// Reads the partition table of a disk whose sector size may be unknown: that of a file, which does not carry it.
#pragma once

#include "disk/table.h"

// `sector` 0: a GPT shows it; of an MBR it is the size with which its partitions start at something that is
// recognised, 512 if none does. Returns an error of code 3 if as many do with either. Free `ret` after a failure
// too.
int sector_read_table(const struct reader *reader, uint32_t sector, struct table *ret, struct fault *fault);
