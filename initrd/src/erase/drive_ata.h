// SPDX-License-Identifier: Apache-2.0
// What the two families of commands of ATA drives that erase have in common: SANITIZE DEVICE and Security Erase.
#pragma once

#include "erase/ata.h"
#include "erase/drive.h"

#define ATA_SECONDS 60u // for a command that returns at once

// 0: the command succeeded; 1: the drive ended it with an error; the registers state it. -errno: it is not known.
int ata_submit(struct drive *drive, const char *what, const struct scsi_command *command, void *data, int size,
	       uint32_t seconds, struct ata_registers *ret, struct fault *fault);

int ata_read_identity(struct drive *drive, struct ata_identity *ret, struct fault *fault);

// Takes Sled's password off a drive: an erase that was interrupted leaves it. Updates `identity`. 1: the drive has a
// password that is not Sled's, or does not let it be taken off.
int ata_security_release(struct drive *drive, struct ata_identity *identity, struct fault *fault);

// The same for a drive of any kind, which may be none of ATA.
void ata_unlock(struct drive *drive);

// Bytes that the drive has, but does not let anybody address, as far as it reports them: by a host protected area, by
// an accessible maximum address (AMAC), and by a device configuration overlay, each beyond the one before it.
struct ata_hidden {
	uint64_t area, accessible, overlay;
};

bool ata_is_drive(struct drive *drive);
void ata_hidden(struct drive *drive, const struct ata_identity *identity, struct ata_hidden *ret);
uint64_t ata_hidden_all(const struct ata_hidden *hidden);

// "hpa:N,amac:N,dco:N", without those that hide nothing.
void ata_hidden_fact(const struct ata_hidden *hidden, char *ret, size_t size);

// "N bytes by HPA, N bytes by DCO", likewise.
void ata_hidden_text(const struct ata_hidden *hidden, char *ret, size_t size);

// Whether only a host protected area hides something, which a volatile command can lift. The others are lifted for
// good, which is not for Sled to do.
bool ata_hidden_lifts(const struct ata_identity *identity, const struct ata_hidden *hidden);

// Lifts a host protected area until the power of the drive is cut. *ret: how many bytes that were; 0: there was none.
// Code 3: something is hidden still.
int ata_lift(struct drive *drive, uint64_t *ret, struct fault *fault);

void ata_security_offer(const struct ata_identity *identity, struct offers *offers);

// Security Erase. It leaves the drive without a password, or states that it has one.
int ata_security_erase(struct drive *drive, const struct offer *offer, struct fault *fault);
