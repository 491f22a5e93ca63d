// SPDX-License-Identifier: Apache-2.0
// Mode auto: decides whether a delta is faster than a full write.
#pragma once

#include "base/fault.h"
#include "disk/device.h"
#include "multicast/address.h"
#include "source/open.h"
#include "write/order.h"

struct chosen {
	enum write_mode mode; // full or delta
	char why[256];	      // one line with the figures of the decision
};

// Samples the disk, and chooses the mode that should be faster. The rate of the network is what the sender of a
// multicast announces (`address`; NULL: there is none), else it is measured with up to 4 MiB of the image; with
// nothing right on the disk it does not matter. Changes nothing. Returns an error of code 6 if the source does not
// respond.
int choose_write_mode(struct source *source, struct device *device, const struct image *image,
		      struct multicast_address *address, struct chosen *ret, struct fault *fault);
