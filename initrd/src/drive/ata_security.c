// SPDX-License-Identifier: Apache-2.0
#include "drive/ata_security.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "drive/ata_submit.h"

#define LONGEST 4000000u // seconds; the kernel has the timeout in milliseconds, in 32 bits

// Submits one of the commands that take the password.
static int submit(struct drive *drive, enum ata_security which, const char *what, bool enhanced, uint32_t seconds,
		  struct ata_registers *ret, struct fault *fault) {
	cleanup_free uint8_t *data = device_buffer(ATA_PAGE);
	struct scsi_command command;

	if (!data)
		return fault_set(fault, CODE_FAILED, "%s: no memory", drive->device->name);
	ata_security(which, &command);
	ata_security_data(enhanced, data);
	return ata_submit(drive, what, &command, data, -(int)ATA_PAGE, seconds, ret, fault);
}

// The drive counts wrong passwords until its power is cut, so each is tried once.
int ata_security_release(struct drive *drive, struct ata_identity *identity, struct fault *fault) {
	struct ata_registers registers;
	int r = 0;

	if (!identity->is_enabled && !identity->is_locked)
		return 0;
	if (identity->is_frozen || identity->is_expired)
		return 1;
	if (identity->is_locked)
		r = submit(drive, ATA_SECURITY_UNLOCK, "SECURITY UNLOCK", false, ATA_SECONDS, &registers, fault);
	if (r == 0)
		r = submit(drive, ATA_SECURITY_DISABLE, "SECURITY DISABLE PASSWORD", false, ATA_SECONDS, &registers,
			   fault);
	if (r != 0)
		return r;
	r = ata_read_identity(drive, identity, fault);
	return r < 0 ? r : identity->is_enabled || identity->is_locked;
}

void ata_unlock(struct drive *drive) {
	struct ata_identity identity;
	struct fault ignored;

	if (ata_is_drive(drive) && ata_read_identity(drive, &identity, &ignored) == 0)
		(void)ata_security_release(drive, &identity, &ignored);
}

void ata_security_offer(const struct ata_identity *identity, struct offers *offers) {
	size_t used = strlen(offers->note);

	if (!identity->has_security)
		return;
	if (identity->is_frozen) {
		snprintf(offers->note + used, sizeof(offers->note) - used,
			 "%sSecurity Erase of %s is frozen: power the drive off and on", used ? "; " : "",
			 identity->model);
		return;
	}
	offers_add_named(offers, METHOD_ATA_SECURITY_ERASE, identity->erase_seconds);
	if (identity->has_enhanced)
		offers_add_named(offers, METHOD_ATA_SECURITY_ERASE_ENHANCED, identity->enhanced_seconds);
}

// Nothing has been sent yet that changes the drive. Without registers a refusal would look like success, and the
// password would stay.
static int check(struct drive *drive, struct fault *fault) {
	struct ata_registers registers;
	struct ata_identity identity;
	struct scsi_command command;
	int r;

	ata_check_power(&command);
	r = ata_submit(drive, "CHECK POWER MODE", &command, NULL, 0, ATA_SECONDS, &registers, fault);
	if (r >= 0)
		r = ata_read_identity(drive, &identity, fault);
	if (r < 0)
		return r;
	if (!identity.has_security || identity.is_frozen || identity.is_enabled || identity.is_locked)
		return fault_set(fault, CODE_UNSUPPORTED, "%s: Security Erase is frozen, or the drive has a password",
				 drive->device->name);
	return 0;
}

// After an error. The reason gets what the drive has now.
static void leave(struct drive *drive, struct fault *fault) {
	struct ata_identity identity;
	struct fault ignored, told = *fault;

	if (ata_read_identity(drive, &identity, &ignored) == 0 && ata_security_release(drive, &identity, &ignored) == 0)
		return;
	fault_set(fault, CODE_FAILED, "%.160s; the drive may have the password \"%s\" now: run the plan again",
		  told.text, ATA_PASSWORD);
}

static int prepare(struct drive *drive, struct fault *fault) {
	struct ata_registers registers;
	struct ata_identity identity;
	struct scsi_command command;
	int r = submit(drive, ATA_SECURITY_SET, "SECURITY SET PASSWORD", false, ATA_SECONDS, &registers, fault);

	if (r == 0)
		r = ata_read_identity(drive, &identity, fault);
	if (r == 0 && !identity.is_enabled)
		r = 1;
	if (r > 0)
		return fault_set(fault, CODE_UNSUPPORTED, "%s: the drive does not take a password",
				 drive->device->name);
	if (r < 0)
		return r;
	ata_security(ATA_SECURITY_PREPARE, &command);
	r = ata_submit(drive, "SECURITY ERASE PREPARE", &command, NULL, 0, ATA_SECONDS, &registers, fault);
	if (r > 0)
		return fault_set(fault, CODE_UNSUPPORTED, "%s: the drive refuses SECURITY ERASE PREPARE",
				 drive->device->name);
	return r;
}

// The drive answers at the end.
static int erase_unit(struct drive *drive, bool enhanced, uint32_t estimate, struct fault *fault) {
	uint32_t seconds = estimate < LONGEST / 2 ? 2 * estimate + 7200 : 7u * 24 * 3600;
	const char *kind = enhanced ? ", enhanced" : "";
	struct ata_registers registers;
	struct ata_identity identity;
	int r = submit(drive, ATA_SECURITY_ERASE, "SECURITY ERASE UNIT", enhanced,
		       seconds < LONGEST ? seconds : LONGEST, &registers, fault);

	if (r < 0)
		return fault->code = CODE_FAILED, r;
	if (r > 0)
		snprintf(drive->reported, sizeof(drive->reported), "SECURITY ERASE UNIT%s: status 0x%02x, error 0x%02x",
			 kind, registers.status, registers.error);
	if (r > 0)
		return fault_set(fault, CODE_FAILED, "%s: the drive ends with an error (%s)", drive->device->name,
				 drive->reported);
	if ((r = ata_read_identity(drive, &identity, fault)) < 0)
		return r;
	snprintf(drive->reported, sizeof(drive->reported),
		 "SECURITY ERASE UNIT%s: ended; IDENTIFY DEVICE, word 128: 0x%04x", kind, identity.security);
	if (identity.is_enabled || identity.is_locked)
		return fault_set(fault, CODE_FAILED, "%s: the drive reports an erase (%s), and still has a password",
				 drive->device->name, drive->reported);
	return 0;
}

int ata_security_erase(struct drive *drive, const struct offer *offer, struct fault *fault) {
	int r = check(drive, fault);

	if (r < 0)
		return r;
	r = prepare(drive, fault);
	if (r == 0)
		r = erase_unit(drive, offer->method == METHOD_ATA_SECURITY_ERASE_ENHANCED, offer->seconds, fault);
	if (r < 0)
		leave(drive, fault);
	return r;
}
