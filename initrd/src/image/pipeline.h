// SPDX-License-Identifier: Apache-2.0
// Image to disk: this thread reads and decodes, a second one writes, a ring of buffers between them.
#pragma once

#include "base/progress.h"
#include "disk/device.h"
#include "image/image.h"

// Writes every piece, zero ones by the disk's own means. The piece at offset 0 is not written but left in `head` (BLOCK
// bytes, zeroed before; *ret_head_size of them filled), so that nothing can start from the disk before the caller has
// verified the whole. `bytes` is the size that the image must have: code 5 when it is another.
// Progress counts bytes of the disk that have been written.
int pipeline_run(struct image *image, struct device *device, uint64_t bytes, unsigned char *head, size_t *ret_head_size,
		 struct progress *progress, struct fault *fault);
