// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "disk/kept.h"
#include "write/fit.h"

// What the image keeps behind the partitions and filesystems of the device, onto which it was written.
int kept_of(const struct index *index, const struct fit *fit, struct device *device, struct kept *ret,
	    struct fault *fault);
