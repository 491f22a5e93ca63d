// SPDX-License-Identifier: Apache-2.0
// A double of an ATA drive behind drive_ops and a translation layer, over a disk in memory. Its faults are told to it.
// Time passes only in waits.
#pragma once

#include "ata_pages.h"
#include "base/clock.h"
#include "drive/drive.h"
#include "erased_disk.h"
#include "memory_security.h"

struct memory_ata {
	struct memory_disk *disk;
	unsigned word59, word128;
	struct memory_security security;
	uint64_t hpa, amac, dco; // sectors that each of these hides
	bool refuses_native;	 // it has them, and does not answer
	bool is_short;		 // its addresses have 28 bits
	bool refuses_max;	 // the firmware of the machine froze them
	bool ignores_max;	 // it reports that the area is lifted, and keeps it

	// Faults.
	bool is_frozen, refuses, fails, lies;
	bool hides_registers; // a controller that passes commands, and returns no registers
	bool refuses_pass;    // or does not pass them
	unsigned stuck_at;

	// State.
	int64_t now;
	uint64_t lifted;      // of hpa, until its power is cut
	bool native_was_last; // the command before; without it, none is lifted
	unsigned lifts;
	bool running, done;
	unsigned progress, feature, step, sanitizes, erases;
};

static inline struct memory_ata *memory_ata(struct drive *d) { return d->context; }

static inline void ata_end(struct memory_ata *m) {
	m->running = false;
	m->done = !m->fails;
	m->progress = 65535;
	lock_disk(m->disk, m->fails);
	if (!m->lies && !m->fails)
		erase_disk_at_once(m->disk, m->erases++, m->feature == ATA_SANITIZE_CRYPTO, 0, 0);
}

static inline bool ata_has(const struct memory_ata *m, unsigned feature, uint64_t lba) {
	return (feature == 0x11 && m->word59 & 0x2000 && lba == 0x43727970) ||
	       (feature == 0x12 && m->word59 & 0x8000 && lba == 0x426b4572) ||
	       (feature == 0x14 && m->word59 & 0x4000 && lba == 0x4f5700000000);
}

static inline int ata_double_sanitize(struct memory_ata *m, const uint8_t *cdb, uint8_t *sense) {
	unsigned feature = (unsigned)cdb[3] << 8 | cdb[4];
	uint64_t lba = cdb[8] | (uint64_t)cdb[10] << 8 | (uint64_t)cdb[12] << 16 | (uint64_t)cdb[7] << 24 |
		       (uint64_t)cdb[9] << 32 | (uint64_t)cdb[11] << 40;
	unsigned count;

	if (feature && (m->refuses || m->is_frozen || !ata_has(m, feature, lba))) {
		page_registers(sense, 0x51, 4, 0, m->is_frozen ? 3 : 2);
		return 2;
	}
	if (feature) {
		m->sanitizes++;
		m->feature = feature;
		m->running = true;
		m->done = false;
		m->progress = 0;
		lock_disk(m->disk, true);
	}
	count = (m->done ? 0x8000u : 0) | (m->running ? 0x4000u : 0) | (m->is_frozen ? 0x2000u : 0);
	page_registers(sense, 0x50, 0, count, m->progress);
	return 2;
}

// What IDENTIFY DEVICE says of it: sectors of 48 bits, HPA, DCO and AMAC.
static inline void hidden_identify(const struct memory_ata *m, uint8_t *page) {
	uint64_t sectors = m->disk->bytes / 512 + m->lifted;

	for (unsigned i = 0; i < 4; i++)
		page_word(page, 100 + i, (unsigned)(sectors >> 16 * i & 0xffff));
	page_word(page, 49, 0x200); // LBA
	page_word(page, 82, get_le16(page + 164) | (m->hpa ? 0x400 : 0));
	page_word(page, 60, (unsigned)(sectors & 0xffff));
	page_word(page, 61, (unsigned)(sectors >> 16 & 0xfff));
	page_word(page, 83, (m->is_short ? 0x4000 : 0x4400) | (m->dco ? 0x800 : 0));
	page_word(page, 86, 0x400);
	page_word(page, 119, 0x4000 | (m->amac ? 0x100 : 0));
}

// SET MAX ADDRESS EXT: volatile, of what READ NATIVE MAX ADDRESS EXT returned in the command before.
static inline int max_command(struct memory_ata *m, bool after_native, const uint8_t *cdb, uint8_t *sense) {
	uint64_t last = cdb[8] | (uint64_t)cdb[10] << 8 | (uint64_t)cdb[12] << 16 | (uint64_t)cdb[7] << 24 |
			(uint64_t)cdb[9] << 32 | (uint64_t)cdb[11] << 40,
		 sectors = m->disk->bytes / 512;

	if (m->refuses_max || !after_native || cdb[6] != 0 || last < sectors || last >= sectors + m->hpa) {
		page_registers(sense, 0x51, 4, 0, 0);
		return 2;
	}
	m->lifts++;
	m->lifted = m->ignores_max ? 0 : last + 1 - sectors;
	page_registers(sense, 0x50, 0, 0, last);
	return 2;
}

static inline int hidden_command(const struct memory_ata *m, const struct scsi_command *c, uint8_t *data,
				 uint8_t *sense) {
	unsigned command = c->cdb[14], feature = (unsigned)c->cdb[3] << 8 | c->cdb[4];
	uint64_t more = command == 0x78 && feature == 0 ? m->amac : 0, last;

	if (command == (m->is_short ? 0xf8 : 0x27))
		more = m->hpa;
	if (command == 0xb1)
		more = feature == 0xc2 ? m->dco : 0;
	last = m->disk->bytes / 512 + more - 1;
	if (more == 0 || m->refuses_native) {
		page_registers(sense, 0x51, 4, 0, 0);
		return 2;
	}
	if (command == 0xb1) {
		memset(data, 0, ATA_PAGE);
		data[510] = 0xa5;
		for (unsigned i = 0; i < 4; i++)
			page_word(data, 3 + i, (unsigned)(last >> 16 * i & 0xffff));
		data[511] = (uint8_t)(data[511] - 0xa5);
		return 0;
	}
	page_registers(sense, 0x50, 0, 0, last);
	return 2;
}

static inline int ata_double_scsi(struct drive *d, const struct scsi_command *c, void *data, int size,
				  uint8_t sense[SCSI_SENSE], uint32_t seconds) {
	struct memory_ata *m = memory_ata(d);
	uint8_t *to = data;
	bool after_native;
	int r;

	(void)seconds;
	if (m->security.off)
		return -ENODEV;
	if (c->cdb[0] == 0x12) {
		to[4] = 91;
		memcpy(to + 8, "ATA     SSD 9           1.0 ", 28);
		return 0;
	}
	if (c->cdb[0] != 0x85 || m->refuses_pass) {
		memcpy(sense, (uint8_t[]){0x72, 5, 0x20, 0, 0, 0, 0, 0}, 8);
		return 2;
	}
	after_native = m->native_was_last;
	m->native_was_last = c->cdb[14] == 0x27;
	if (c->cdb[14] == 0xec) {
		page_identity(to, m->word59, 0, 0, m->word128);
		security_identify(&m->security, to);
		hidden_identify(m, to);
		return 0;
	}
	if (c->cdb[14] == 0x37)
		r = max_command(m, after_native, c->cdb, sense);
	else if (strchr("\x27\xf8\x78\xb1", c->cdb[14]))
		r = hidden_command(m, c, to, sense);
	else if (c->cdb[14] != 0xb4) {
		r = security_command(&m->security, m->disk, c, to, size, sense);
		if (m->security.erased)
			erase_disk_at_once(m->disk, m->erases++, false, 0, m->lies ? m->disk->bytes : 0);
		m->security.erased = false;
	} else
		r = ata_double_sanitize(m, c->cdb, sense);
	return m->hides_registers && r >= 0 ? 0 : r;
}

static inline int64_t ata_double_now(struct drive *d) { return memory_ata(d)->now; }

static inline void ata_double_wait(struct drive *d, int64_t until) {
	struct memory_ata *m = memory_ata(d);

	m->now = until;
	if (m->running && step_on(&m->progress, m->step, m->stuck_at))
		ata_end(m);
}

static const struct drive_ops ata_double = {no_nsid, no_nvme,	     ata_double_scsi, no_mmc,
					    no_opal, ata_double_now, ata_double_wait};
