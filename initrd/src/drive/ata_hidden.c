// SPDX-License-Identifier: Apache-2.0
#include "drive/ata_hidden.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "drive/ata_submit.h"

#define SECTORS_MAX ((UINT64_C(1) << 48) - 1) // what registers hold; anything above is no answer

// Sectors up to the last one that a command returns; 0: it returns none.
static uint64_t ask(struct drive *drive, const char *what, const struct scsi_command *command) {
	struct ata_registers registers;
	struct fault ignored;

	if (ata_submit(drive, what, command, NULL, 0, ATA_SECONDS, &registers, &ignored) != 0)
		return 0;
	return registers.lba + 1;
}

static uint64_t ask_overlay(struct drive *drive) {
	cleanup_free uint8_t *page = device_buffer(ATA_PAGE);
	struct ata_registers registers;
	struct scsi_command command;
	struct fault ignored;
	uint64_t last;

	ata_overlay(&command);
	if (!page ||
	    ata_submit(drive, "DEVICE CONFIGURATION IDENTIFY", &command, page, ATA_PAGE, ATA_SECONDS, &registers,
		       &ignored) != 0 ||
	    ata_overlay_decode(page, ATA_PAGE, &last) < 0)
		return 0;
	return last + 1;
}

// The last sector that the drive can be set to. It must be asked directly before it is set.
static uint64_t ask_native(struct drive *drive, const struct ata_identity *identity) {
	struct scsi_command command;

	ata_native_max(identity->has_long, &command);
	return ask(drive, "READ NATIVE MAX ADDRESS", &command);
}

static uint64_t ask_accessible(struct drive *drive) {
	struct scsi_command command;

	ata_accessible_max(&command);
	return ask(drive, "GET NATIVE MAX ADDRESS EXT", &command);
}

void ata_hidden(struct drive *drive, const struct ata_identity *identity, struct ata_hidden *ret) {
	uint64_t found[] = {identity->has_area ? ask_native(drive, identity) : 0,
			    identity->has_amac ? ask_accessible(drive) : 0,
			    identity->has_overlay ? ask_overlay(drive) : 0};
	uint64_t *hides[] = {&ret->area, &ret->accessible, &ret->overlay}, most = identity->sectors;

	*ret = (struct ata_hidden){0};
	for (unsigned i = 0; i < ELEMENTS(found); i++)
		if (found[i] > most && found[i] <= SECTORS_MAX) {
			*hides[i] = (found[i] - most) * drive->device->sector;
			most = found[i];
		}
}

uint64_t ata_hidden_all(const struct ata_hidden *hidden) { return hidden->area + hidden->accessible + hidden->overlay; }

static void list(const struct ata_hidden *hidden, bool is_fact, char *ret, size_t size) {
	const struct {
		uint64_t bytes;
		const char *fact, *text;
	} kinds[] = {
		{hidden->area, "hpa", "HPA"}, {hidden->accessible, "amac", "AMAC"}, {hidden->overlay, "dco", "DCO"}};
	size_t used = 0;

	*ret = 0;
	for (unsigned i = 0; i < ELEMENTS(kinds) && used < size; i++) {
		if (kinds[i].bytes == 0)
			continue;
		if (is_fact)
			used += (size_t)snprintf(ret + used, size - used, "%s%s:%llu", used ? "," : "", kinds[i].fact,
						 (unsigned long long)kinds[i].bytes);
		else
			used += (size_t)snprintf(ret + used, size - used, "%s%llu bytes by %s", used ? ", " : "",
						 (unsigned long long)kinds[i].bytes, kinds[i].text);
	}
}

void ata_hidden_fact(const struct ata_hidden *hidden, char *ret, size_t size) { list(hidden, true, ret, size); }

void ata_hidden_text(const struct ata_hidden *hidden, char *ret, size_t size) { list(hidden, false, ret, size); }

bool ata_hidden_lifts(const struct ata_identity *identity, const struct ata_hidden *hidden) {
	return hidden->accessible == 0 && hidden->overlay == 0 && identity->has_long;
}

static int read_hidden(struct drive *drive, struct ata_identity *identity, struct ata_hidden *ret,
		       struct fault *fault) {
	int r = ata_read_identity(drive, identity, fault);

	if (r == 0)
		ata_hidden(drive, identity, ret);
	return r;
}

static int set_max(struct drive *drive, const struct ata_identity *identity, struct fault *fault) {
	struct ata_registers registers;
	struct scsi_command command;
	uint64_t sectors = ask_native(drive, identity);
	int r;

	if (sectors == 0 || sectors > SECTORS_MAX)
		return fault_set(fault, CODE_UNSUPPORTED, "the drive states its native size no more");
	ata_set_max(sectors - 1, &command);
	r = ata_submit(drive, "SET MAX ADDRESS EXT", &command, NULL, 0, ATA_SECONDS, &registers, fault);
	if (r > 0)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "the drive refuses SET MAX ADDRESS EXT, perhaps because the firmware of the machine "
				 "froze it");
	return r;
}

int ata_lift(struct drive *drive, uint64_t *ret, struct fault *fault) {
	struct ata_identity identity;
	struct ata_hidden hidden;
	struct fault why = {0};
	char text[128];
	int r = read_hidden(drive, &identity, &hidden, fault);

	*ret = 0;
	if (r < 0 || ata_hidden_all(&hidden) == 0)
		return r;
	if (ata_hidden_lifts(&identity, &hidden)) {
		*ret = hidden.area;
		if ((r = set_max(drive, &identity, &why)) < 0 && why.code != CODE_UNSUPPORTED)
			return *fault = why, r;
		if ((r = read_hidden(drive, &identity, &hidden, fault)) < 0 || ata_hidden_all(&hidden) == 0)
			return r;
	}
	ata_hidden_text(&hidden, text, sizeof(text));
	return fault_set(fault, CODE_UNSUPPORTED, "%s hides %s%s%s; nothing was erased", drive->device->name, text,
			 why.text[0] ? ": " : "", why.text);
}
