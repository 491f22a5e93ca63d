// SPDX-License-Identifier: Apache-2.0
// Security Erase of ATA drives (ACS-4 4.18). A drive erases itself only while it has a password, and an erase that ends
// takes it off. So the password is public (ATA_PASSWORD): whatever interrupts the erase, the next step can go on.
#pragma once

#include "drive/ata.h"
#include "drive/drive.h"

// Takes Sled's password off a drive: an erase that was interrupted leaves it. Updates `identity`. Returns 1 if the
// drive has a password that is not Sled's, or does not let it be taken off.
int ata_security_release(struct drive *drive, struct ata_identity *identity, struct fault *fault);

// The same for a drive of any kind; does nothing to one that is not ATA.
void ata_unlock(struct drive *drive);

void ata_security_offer(const struct ata_identity *identity, struct offers *offers);

// Security Erase. It leaves the drive without a password, or states that it has one.
int ata_security_erase(struct drive *drive, const struct offer *offer, struct fault *fault);
