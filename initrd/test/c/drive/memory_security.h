// SPDX-License-Identifier: Apache-2.0
// The part of the double of an ATA drive that has passwords (ACS-4 4.18), with its states. Its faults are told to it.
#pragma once

#include "ata_pages.h"
#include "erased_disk.h"

struct memory_security {
	bool supported, has_enhanced;
	unsigned word89, word90; // what it estimates

	// Faults.
	bool frozen;	 // by the firmware of the machine
	bool takes_none; // it ignores a password, and reports success
	bool refuses_prepare;
	bool refuses_erase;  // aborts
	bool keeps_password; // reports an erase, and has a password afterwards
	bool loses_power;    // half-way

	// State.
	bool has_password, locked, prepared, erased;
	bool off; // its power was cut
	uint8_t password[32];
	unsigned wrong; // attempts since its power was last on
	unsigned sets, erases, enhanced;
};

// What firmware or a power cut leave: a drive with a password comes up locked.
static inline void security_power_cycle(struct memory_security *s, struct memory_disk *disk) {
	s->locked = s->has_password;
	s->prepared = s->loses_power = s->off = false;
	s->wrong = 0;
	lock_disk(disk, s->locked);
}

static inline void security_identify(const struct memory_security *s, uint8_t *page) {
	if (!s->supported)
		return;
	page_word(page, 82, 2);
	page_word(page, 85, s->has_password ? 2 : 0);
	page_word(page, 89, s->word89);
	page_word(page, 90, s->word90);
	page_word(page, 128,
		  1u | (s->has_password ? 2u : 0) | (s->locked ? 4u : 0) | (s->frozen ? 8u : 0) |
			  (s->wrong >= 5 ? 16u : 0) | (s->has_enhanced ? 32u : 0));
}

// The user's password, alone: the double has no master password.
static inline bool security_matches(struct memory_security *s, const uint8_t *data) {
	return !(data[0] & 1) && s->has_password && memcmp(data + 2, s->password, sizeof(s->password)) == 0;
}

static inline bool security_set(struct memory_security *s, const uint8_t *data) {
	if (s->locked || data[0] & 1)
		return false;
	s->sets++;
	s->has_password = !s->takes_none;
	memcpy(s->password, data + 2, sizeof(s->password));
	return true;
}

static inline bool security_unlock(struct memory_security *s, struct memory_disk *disk, const uint8_t *data) {
	if (s->wrong >= 5)
		return false;
	if (!security_matches(s, data)) {
		s->wrong++;
		return false;
	}
	s->locked = false;
	lock_disk(disk, false);
	return true;
}

static inline bool security_disable(struct memory_security *s, const uint8_t *data) {
	if (s->locked || !security_matches(s, data))
		return false;
	s->has_password = false;
	return true;
}

// -EIO: its power was cut.
static inline int security_erase(struct memory_security *s, struct memory_disk *disk, const uint8_t *data,
				 bool prepared) {
	bool enhanced = data[0] & 2;

	if (!prepared || s->refuses_erase || !security_matches(s, data) || (enhanced && !s->has_enhanced))
		return 0;
	if (s->loses_power) {
		memset(disk->data, 0, disk->bytes / 2);
		lock_disk(disk, true);
		s->off = true;
		return -EIO;
	}
	s->erases++;
	s->enhanced += enhanced;
	s->erased = true;
	s->has_password = s->keeps_password;
	s->locked = false;
	lock_disk(disk, false);
	return 1;
}

static inline int security_run(struct memory_security *s, struct memory_disk *disk, unsigned command,
			       const uint8_t *data) {
	bool prepared = s->prepared;

	s->prepared = false; // any other command in between ends it
	switch (command) {
	case 0xf1: return security_set(s, data);
	case 0xf2: return security_unlock(s, disk, data);
	case 0xf3: s->prepared = !s->refuses_prepare; return s->prepared;
	case 0xf4: return security_erase(s, disk, data, prepared);
	default: return security_disable(s, data);
	}
}

// The command, its transfer and its data must be those of ACS-4; else it is aborted, as a drive does.
static inline int security_command(struct memory_security *s, struct memory_disk *disk, const struct scsi_command *c,
				   const uint8_t *data, int size, uint8_t *sense) {
	unsigned command = c->cdb[14];
	bool has_data = command != 0xf3, out = c->cdb[1] == 0x0a && (c->cdb[2] & ~0x20) == 0x06 && c->cdb[6] == 1;
	int r;

	if (command == 0xe5) {
		page_registers(sense, 0x50, 0, 0xff, 0);
		return 2;
	}
	r = s->supported && !s->frozen && command >= 0xf1 && command <= 0xf6 && command != 0xf5 &&
	    (has_data ? out && size == -512 : size == 0);
	if (r > 0)
		r = security_run(s, disk, command, data);
	page_registers(sense, r > 0 ? 0x50 : 0x51, r > 0 ? 0 : 4, 0, 0);
	return r < 0 ? r : r > 0 && !(c->cdb[2] & 0x20) ? 0 : 2; // registers of a success only on request
}
