// SPDX-License-Identifier: Apache-2.0
// Areas of ATA drives that cannot be addressed: a host protected area (HPA, ACS-2 4.11), a device configuration overlay
// (DCO, ACS-2 4.7), an accessible maximum address (AMAC, ACS-4 4.3).
#pragma once

#include "drive/ata.h"
#include "drive/drive.h"

// Bytes that the drive has, but does not let anybody address, as far as it reports them: by a host protected area, by
// an accessible maximum address (AMAC), and by a device configuration overlay, each beyond the one before it.
struct ata_hidden {
	uint64_t area, accessible, overlay;
};

void ata_hidden(struct drive *drive, const struct ata_identity *identity, struct ata_hidden *ret);
uint64_t ata_hidden_all(const struct ata_hidden *hidden);

// "hpa:N,amac:N,dco:N", without those that hide nothing.
void ata_hidden_fact(const struct ata_hidden *hidden, char *ret, size_t size);

// "N bytes by HPA, N bytes by DCO", likewise.
void ata_hidden_text(const struct ata_hidden *hidden, char *ret, size_t size);

// Returns whether only a host protected area hides something, which a volatile command can lift. The others are
// lifted for good, which is not for Sled to do.
bool ata_hidden_lifts(const struct ata_identity *identity, const struct ata_hidden *hidden);

// Lifts a host protected area until the power of the drive is cut. Sets *ret to the number of bytes, 0 if there was
// none. Returns an error of code 3 if something is hidden still.
int ata_lift(struct drive *drive, uint64_t *ret, struct fault *fault);
