// SPDX-License-Identifier: Apache-2.0
// A double of an eMMC behind drive_ops, over a disk in memory. It is strict: an erase without both ends, or a transfer
// that is none, is an error, as a device reports it. Its faults are told to it.
#pragma once

#include "base/bytes.h"
#include "erased_disk.h"

struct memory_mmc {
	struct memory_disk *disk;
	uint8_t revision, features; // bytes 192 and 231 of the extended CSD
	uint64_t bytes;		    // what it states; 0: those of the disk

	// Faults.
	bool lies;
	bool skips; // a part is write protected: all the rest is erased, and the next status has a bit
	bool refuses_sanitize;
	unsigned dies_at; // opcode at which its power is cut, half-way; 0: none

	// State.
	uint32_t start, end, pending; // pending: error bits of the next status
	bool has_start, has_end, unmapped;
	unsigned secure, trims, plain, sanitizes, erases;
	int64_t now;
};

static inline void page_csd(uint8_t page[MMC_PAGE], uint8_t revision, uint8_t features, uint64_t sectors) {
	memset(page, 0, MMC_PAGE);
	page[192] = revision;
	put_le32(page + 212, (uint32_t)sectors);
	page[223] = 1;
	page[224] = 1;
	page[230] = 10;
	page[231] = features;
}

static inline void mmc_double_clear(struct memory_mmc *m, uint64_t bytes) {
	m->erases++;
	if (!m->lies)
		memset(m->disk->data, 0, bytes);
}

// 0: done; else the error bits of its status.
static inline uint32_t mmc_double_erase(struct memory_mmc *m, uint32_t how) {
	bool whole = m->has_start && m->has_end && m->start == 0 && m->end == (uint32_t)(m->disk->bytes - 512);

	m->has_start = m->has_end = false;
	if (!whole)
		return 1u << 28; // ERASE_SEQ_ERROR
	if ((how == 0x80000000 && !(m->features & 1)) || (how == 1 && !(m->features & 16)))
		return 1u << 22; // ILLEGAL_COMMAND
	m->secure += how == 0x80000000;
	m->trims += how == 1;
	m->plain += how == 0;
	m->unmapped = true;
	mmc_double_clear(m, m->skips ? m->disk->bytes / 2 : m->disk->bytes);
	m->pending = m->skips ? 1u << 15 : 0;
	return 0;
}

static inline int mmc_double_one(struct memory_mmc *m, struct mmc_command *c, uint8_t *page) {
	c->response = 0x900 | m->pending;
	m->pending = 0;
	if (m->dies_at == c->opcode) {
		memset(m->disk->data, 0, m->disk->bytes / 4);
		return -EIO;
	}
	switch (c->opcode) {
	case 8:
		if (!c->reads || !page)
			return -EINVAL;
		page_csd(page, m->revision, m->features, (m->bytes ? m->bytes : m->disk->bytes) / 512);
		return 0;
	case 35:
		m->has_start = true;
		m->start = c->argument;
		return 0;
	case 36:
		m->has_end = m->has_start;
		m->end = c->argument;
		return 0;
	case 38: c->response |= mmc_double_erase(m, c->argument); return c->waits ? 0 : -EINVAL;
	case 6:
		if (c->argument != 0x03a50101 || !(m->features & 64) || m->refuses_sanitize)
			return -EBADMSG; // as the kernel, for SWITCH_ERROR
		m->sanitizes += m->unmapped;
		return c->waits ? 0 : -EINVAL;
	default: return -EINVAL;
	}
}

static inline int mmc_double(struct drive *d, struct mmc_command *commands, unsigned count, void *page,
			     uint32_t seconds) {
	int r = 0;

	(void)seconds;
	for (unsigned i = 0; r == 0 && i < count; i++)
		r = mmc_double_one(d->context, &commands[i], page);
	return r;
}

static inline int64_t mmc_double_now(struct drive *d) { return ((struct memory_mmc *)d->context)->now; }

static inline void mmc_double_wait(struct drive *d, int64_t until) { ((struct memory_mmc *)d->context)->now = until; }

static const struct drive_ops mmc_double_ops = {no_nsid, no_nvme,	 no_scsi,	 mmc_double,
						no_opal, mmc_double_now, mmc_double_wait};
