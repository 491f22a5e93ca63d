// SPDX-License-Identifier: Apache-2.0
// Unpacks a file of imagezip (.ndz).
#pragma once

#include "disk/reader.h"

// Reads all headers. *ret_bytes: the size of the disk, as far as the file describes it. Errors are those of ndz_next.
int ndz_measure(const struct reader *in, uint64_t *ret_bytes, struct fault *fault);

// Writes the regions to a file of zeros that is as large as the disk.
int ndz_unpack(const struct reader *in, int out, struct fault *fault);
