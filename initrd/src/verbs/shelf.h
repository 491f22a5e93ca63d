// SPDX-License-Identifier: Apache-2.0
// The images in a folder, by the first bytes of their digests.
#pragma once

#include "multicast/packet.h"
#include "verbs/opened.h"

// Opens the image whose digest starts with `id`. Files that are no images are passed over. False: there is none.
bool shelf_find(const char *folder, const uint8_t id[SESSION_ID], struct opened *ret);
