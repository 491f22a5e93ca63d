// SPDX-License-Identifier: Apache-2.0
// Mode auto: decides whether a delta is faster than a full write.
#pragma once

#include "base/fault.h"
#include "disk/device.h"
#include "image/index.h"
#include "source/source.h"
#include "write/order.h"

struct chosen {
	enum write_mode mode; // full or delta
	char why[256];	      // one line with the figures of the decision
};

// Samples the disk, measures the source with up to 4 MiB of the image, and chooses the mode that should be faster.
// Changes nothing. Code 6 if the source does not respond.
int choose_write_mode(struct source *source, struct device *device, const struct index *index, struct chosen *ret,
		      struct fault *fault);
