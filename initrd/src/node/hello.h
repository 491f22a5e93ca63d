// SPDX-License-Identifier: Apache-2.0
// What a machine states before it is believed (contract/admission.md).
#pragma once

#include "base/fault.h"
#include "base/text.h"

// A MAC of one interface: lower case, colons, neither zero nor a group address.
int hello_check_nic(const char *value, struct fault *fault);

// Adds the hello of this boot. `nic`: the interface that the request leaves by. sysfs and procfs are read below `root`.
int hello_write(const char *root, const char *nic, struct text *text, struct fault *fault);
