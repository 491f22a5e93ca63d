// SPDX-License-Identifier: Apache-2.0
// Mode auto: whether it pays to find out what is on a disk already.
#pragma once

#include "base/fault.h"
#include "disk/device.h"
#include "image/index.h"
#include "source/source.h"
#include "write/order.h"

struct chosen {
	enum write_mode mode; // full or delta
	char why[256];	      // one line with the figures that decided
};

// Samples the disk, measures the source with up to 4 MiB of the image, and takes the mode that should be done first.
// Touches nothing. A network that does not answer is code 6.
int choose_write_mode(struct source *source, struct device *device, const struct index *index, struct chosen *ret,
		      struct fault *fault);
