// SPDX-License-Identifier: Apache-2.0
// ATA drives: SANITIZE DEVICE (ACS-4 7.36) and Security Erase.
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "drive/ata_hidden.h"
#include "drive/ata_security.h"
#include "drive/ata_submit.h"

static const struct {
	enum erase_method method;
	enum ata_sanitize_feature feature;
} features[] = {
	{METHOD_ATA_SANITIZE_CRYPTO, ATA_SANITIZE_CRYPTO},
	{METHOD_ATA_SANITIZE_BLOCK, ATA_SANITIZE_BLOCK},
	{METHOD_ATA_SANITIZE_OVERWRITE, ATA_SANITIZE_OVERWRITE},
};

// 1: the drive reports that the last sanitize failed, or an error.
static int read_status(struct drive *drive, struct ata_sanitize *ret, struct fault *fault) {
	struct ata_registers registers;
	struct scsi_command command;
	int r;

	ata_sanitize(ATA_SANITIZE_STATUS, &command);
	r = ata_submit(drive, "SANITIZE STATUS EXT", &command, NULL, 0, ATA_SECONDS, &registers, fault);
	if (r < 0)
		return r;
	ata_sanitize_decode(&registers, ret);
	snprintf(drive->reported, sizeof(drive->reported),
		 "Sanitize status: status 0x%02x, error 0x%02x, count 0x%04x, LBA 0x%012llx", registers.status,
		 registers.error, registers.count, (unsigned long long)registers.lba);
	return r;
}

static void offer(const struct ata_identity *identity, struct offers *offers) {
	bool has[] = {identity->sanitize_crypto, identity->sanitize_block, identity->sanitize_overwrite};

	for (unsigned i = 0; i < ELEMENTS(features); i++)
		if (has[i]) // ACS-4 has no estimate of their time
			offers_add(offers, features[i].method, false, true, SANITIZE_UNKNOWN);
}

static int probe_sanitize(struct drive *drive, const struct ata_identity *identity, struct offers *offers,
			  struct fault *fault) {
	struct ata_sanitize status;
	int r;

	if (!identity->has_sanitize)
		return snprintf(offers->note, sizeof(offers->note), "%s has no SANITIZE DEVICE", identity->model), 0;
	if ((r = read_status(drive, &status, fault)) < 0)
		return r;
	if (status.is_frozen)
		snprintf(offers->note, sizeof(offers->note), "Sanitize of %s is frozen: power the drive off and on",
			 identity->model);
	else
		offer(identity, offers);
	return 0;
}

static void note_hidden(const struct ata_identity *identity, const struct ata_hidden *hidden, struct offers *offers) {
	char text[128];

	ata_hidden_text(hidden, text, sizeof(text));
	snprintf(offers->note, sizeof(offers->note), "%s hides %s", identity->model, text);
}

static int probe(struct drive *drive, struct offers *offers, struct fault *fault) {
	struct ata_identity identity;
	struct ata_hidden hidden;
	int r;

	if (!ata_is_drive(drive))
		return 1;
	*offers = (struct offers){0};
	if ((r = ata_read_identity(drive, &identity, fault)) < 0 ||
	    (r = ata_security_release(drive, &identity, fault)) < 0)
		return r;
	if (r > 0)
		return snprintf(offers->note, sizeof(offers->note), "%s is locked by a password that is not Sled's%s",
				identity.model, identity.is_expired ? ", or was tried too often" : ""),
		       0;
	ata_hidden(drive, &identity, &hidden);
	offers->hides = ata_hidden_all(&hidden) > 0;
	if (offers->hides && !ata_hidden_lifts(&identity, &hidden))
		return note_hidden(&identity, &hidden, offers), 0;
	r = probe_sanitize(drive, &identity, offers, fault);
	if (r == 0)
		ata_security_offer(&identity, offers);
	if (r == 0 && hidden.area > 0 && offers->note[0] == 0) // every command of ATA is taken only when named
		note_hidden(&identity, &hidden, offers);
	return r;
}

static int poll_status(struct drive *drive, uint32_t *ret_progress, struct fault *fault) {
	struct ata_sanitize status;
	int r = read_status(drive, &status, fault);

	if (r < 0)
		return r;
	*ret_progress = status.progress;
	drive->failed = r > 0 || !status.is_done;
	return r > 0 || !status.is_running;
}

// Which command it was is not known, so that another one follows.
static int settle(struct drive *drive, enum erase_method *ret, struct fault *fault) {
	struct ata_sanitize status;

	*ret = METHOD_AUTO;
	if (read_status(drive, &status, fault) != 0 || !status.is_running)
		return 0;
	return drive_follow(drive, SANITIZE_UNKNOWN, poll_status, fault);
}

static int sanitize(struct drive *drive, const struct offer *offer, struct fault *fault) {
	struct ata_registers registers;
	struct scsi_command command;
	unsigned i = 0;
	int r;

	while (features[i].method != offer->method)
		i++;
	ata_sanitize(features[i].feature, &command);
	r = ata_submit(drive, "SANITIZE DEVICE", &command, NULL, 0, ATA_SECONDS, &registers, fault);
	if (r > 0)
		return fault_set(fault, CODE_UNSUPPORTED, "%s: the drive refuses SANITIZE DEVICE: %s",
				 drive->device->name, ata_sanitize_reason(&registers));
	if (r == 0)
		r = drive_follow(drive, offer->seconds, poll_status, fault);
	if (r == 0 && drive->failed)
		r = fault_set(fault, CODE_FAILED,
			      "%s: Sanitize failed (%s); the drive returns no data until another one succeeds",
			      drive->device->name, drive->reported);
	return r;
}

// What was hidden is erased with the rest. It is in the record, because the kernel cannot read it back.
static int run(struct drive *drive, const struct offer *offer, struct fault *fault) {
	uint64_t lifted;
	size_t used;
	int r = ata_lift(drive, &lifted, fault);

	drive->reported[0] = 0;
	if (r < 0)
		return r;
	r = offer->is_named ? ata_security_erase(drive, offer, fault) : sanitize(drive, offer, fault);
	used = strlen(drive->reported);
	if (lifted > 0 && used > 0)
		snprintf(drive->reported + used, sizeof(drive->reported) - used, "; lifted an HPA of %llu bytes",
			 (unsigned long long)lifted);
	return r;
}

const struct drive_family drive_ata = {"ata-", probe, settle, run};
