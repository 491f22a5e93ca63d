// SPDX-License-Identifier: Apache-2.0
// The line of a report about one disk (contract/erasure.md). Pure functions.
#pragma once

#include "base/text.h"
#include "disk/disk.h"
#include "erase/state.h"

enum erase_result { ERASED, ERASE_FAILED, ERASE_LEFT_OUT };

// Adds "erasure result=... ...", without the LF, at most RECORD_MAX bytes. `reason`: why it failed or was left out.
void record_write(const struct disk *disk, const struct erase *erase, enum erase_result result, const char *reason,
		  struct text *text);

#define RECORD_MAX 3800u // a line passes a pipe as a whole (PIPE_BUF)
