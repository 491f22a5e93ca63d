// SPDX-License-Identifier: Apache-2.0
// Drives of TCG Opal, of any kind. A revert by the PSID, which is printed on the drive, makes it draw a new key: it
// works without any password, and reaches all namespaces. The kernel speaks the protocol (linux/sed-opal.h).
#pragma once

#include "drive/drive.h"

// Returns whether the drive is one of Opal, as far as this kernel can tell.
bool opal_is(struct drive *drive);

// Adds the revert, if the drive has Opal and its PSID is known; else the note states why not.
void opal_offer(struct drive *drive, struct offers *offers);

// Returns an error of code 3 if the drive refused the PSID, and nothing was touched.
int opal_revert(struct drive *drive, struct fault *fault);
