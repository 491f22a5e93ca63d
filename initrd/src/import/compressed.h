// SPDX-License-Identifier: Apache-2.0
// A disk from a file that one of the usual programs compressed, or partclone wrote: a new file of the whole of `fd`.
#pragma once

#include "base/fault.h"
#include "import/recognise.h"

int import_decompress(int fd, enum import_kind kind, const char *folder, int *ret_fd, struct fault *fault);
int import_partclone(int fd, enum import_kind kind, const char *folder, int *ret_fd, struct fault *fault);
