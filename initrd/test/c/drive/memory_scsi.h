// SPDX-License-Identifier: Apache-2.0
// A double of a SCSI drive behind drive_ops, over a disk in memory. Its faults are told to it. Time passes only in
// waits.
#pragma once

#include "base/bytes.h"
#include "base/clock.h"
#include "drive/drive.h"
#include "erased_disk.h"

struct memory_scsi {
	struct memory_disk *disk;
	const char *vendor;
	unsigned has;	  // bits of the actions of SANITIZE that it has: 1 << action
	uint32_t seconds; // what it recommends as a timeout; 0: nothing

	// Faults.
	uint8_t refuses_key;	    // sense key that answers SANITIZE; 0: it is accepted
	int refuses_status;	    // another status than CHECK CONDITION, or -errno
	bool fails, lies, is_fixed; // is_fixed: sense data of the old format
	unsigned stuck_at;

	// State.
	int64_t now;
	bool running, failed, attention; // attention: a unit attention comes first
	unsigned progress, action, step, sanitizes, erases;
};

static inline struct memory_scsi *memory_scsi(struct drive *d) { return d->context; }

static inline void put_sense(const struct memory_scsi *m, uint8_t *to, uint8_t key, uint8_t code, uint8_t qualifier) {
	uint8_t high = (uint8_t)(m->progress >> 8), low = (uint8_t)m->progress;

	if (m->is_fixed) {
		uint8_t fixed[18] = {0x70, 0, key, 0, 0, 0, 0, 10, 0, 0, 0, 0, code, qualifier, 0, 0x80, high, low};
		memcpy(to, fixed, sizeof(fixed));
	} else {
		uint8_t descriptor[16] = {0x72, key, code, qualifier, 0, 0, 0, 8, 2, 6, 0, 0, 0x80, high, low, 0};
		memcpy(to, descriptor, sizeof(descriptor));
	}
}

static inline int scsi_check(const struct memory_scsi *m, uint8_t *sense, uint8_t key, uint8_t code,
			     uint8_t qualifier) {
	put_sense(m, sense, key, code, qualifier);
	return 2;
}

static inline void scsi_end(struct memory_scsi *m) {
	m->running = false;
	m->failed = m->fails;
	lock_disk(m->disk, m->fails);
	if (!m->lies && !m->fails)
		erase_disk_at_once(m->disk, m->erases++, m->action == SCSI_SANITIZE_CRYPTO, 0, 0);
}

static inline int scsi_start(struct memory_scsi *m, const struct scsi_command *c, const uint8_t *data, int size,
			     uint8_t *sense) {
	unsigned action = c->cdb[1] & 31;

	if (m->refuses_status)
		return m->refuses_status;
	if (m->refuses_key)
		return scsi_check(m, sense, m->refuses_key, 0x24, 0);
	if (!(m->has >> action & 1) || !(c->cdb[1] & 0x80))
		return scsi_check(m, sense, 5, 0x20, 0);
	if (action == SCSI_SANITIZE_OVERWRITE ? size != -8 || data[0] != 1 || data[3] != 4 : size != 0)
		return scsi_check(m, sense, 5, 0x26, 0);
	m->sanitizes++;
	m->action = action;
	m->running = true;
	m->attention = true;
	m->failed = false;
	m->progress = 0;
	lock_disk(m->disk, true);
	return 0;
}

static inline int scsi_double_scsi(struct drive *d, const struct scsi_command *c, void *data, int size,
				   uint8_t sense[SCSI_SENSE], uint32_t seconds) {
	struct memory_scsi *m = memory_scsi(d);
	uint8_t *to = data;

	(void)seconds;
	switch (c->cdb[0]) {
	case 0x12:
		to[4] = 91;
		memset(to + 8, ' ', 28);
		memcpy(to + 8, m->vendor, strlen(m->vendor));
		memcpy(to + 16, "DISK", 4);
		return 0;
	case 0xa3:
		to[1] = m->has >> c->cdb[5] & 1 ? 0x83 : 0x81;
		to[3] = 10;
		to[15] = 10;
		for (unsigned i = 0; i < 4; i++)
			to[22 + i] = (uint8_t)(m->seconds >> (24 - 8 * i));
		return 0;
	case 0x03:
		if (m->attention)
			put_sense(m, to, 6, 0x29, 0);
		else if (m->running)
			put_sense(m, to, 2, 4, 0x1b);
		else
			put_sense(m, to, m->failed ? 3 : 0, m->failed ? 0x31 : 0, m->failed ? 3 : 0);
		m->attention = false;
		return 0;
	case 0x48: return scsi_start(m, c, data, size, sense);
	default: return scsi_check(m, sense, 5, 0x20, 0);
	}
}

static inline int64_t scsi_double_now(struct drive *d) { return memory_scsi(d)->now; }

static inline void scsi_double_wait(struct drive *d, int64_t until) {
	struct memory_scsi *m = memory_scsi(d);

	m->now = until;
	if (m->running && step_on(&m->progress, m->step, m->stuck_at))
		scsi_end(m);
}

static const struct drive_ops scsi_double = {no_nsid, no_nvme,	       scsi_double_scsi, no_mmc,
					     no_opal, scsi_double_now, scsi_double_wait};
