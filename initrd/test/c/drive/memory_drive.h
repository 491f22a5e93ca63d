// SPDX-License-Identifier: Apache-2.0
// A double of an NVMe drive behind drive_ops, over disks in memory. Its faults are told to it. Time passes only in
// waits.
#pragma once

#include "base/clock.h"
#include "drive/drive.h"
#include "drive_pages.h"
#include "erased_disk.h"

#define DOUBLE_MAX 4u

struct memory_drive {
	// What it offers; see page_controller and page_sanitize.
	unsigned oacs, fna, cmic;
	uint32_t sanicap, estimate;
	const char *serial;
	struct memory_disk *disks[DOUBLE_MAX]; // namespaces 1 to ...; NULL: none
	unsigned flbas[DOUBLE_MAX];
	uint32_t detached;	// one more namespace, only in the list of the allocated; 0: none
	unsigned appears_after; // that many lists, another namespace exists
	bool refuses_lists;

	// Faults.
	int refuses_sanitize, refuses_format; // a status, or -errno
	bool lies;			      // reports success, and erases nothing
	uint64_t left_from, left_to;	      // it erases all but that
	unsigned stuck_at;		      // progress that it never leaves; 0: none
	bool swings;			      // its progress comes and goes
	bool fails;			      // a sanitize ends in state 3
	unsigned reports_action;	      // another command than it was given; 0: what it was given
	unsigned bad_state;		      // state in the log that does not exist

	// State.
	int64_t now;
	unsigned state, progress, action, step; // of a sanitize; step: progress in a wait
	unsigned sanitizes, formats, lists, waits, erases;
};

struct memory_unit { // drive_context of a job
	struct memory_drive *drive;
	uint32_t nsid;
};

static inline struct memory_unit *memory_unit(struct drive *d) { return d->context; }

static inline int64_t double_nsid(struct drive *d) {
	uint32_t nsid = memory_unit(d)->nsid;
	return nsid ? (int64_t)nsid : -ENOTTY;
}

static inline void double_erase(struct memory_drive *m, struct memory_disk *disk, bool noise) {
	unsigned key = m->erases++;

	if (!m->lies)
		erase_disk_at_once(disk, key, noise, m->left_from, m->left_to);
}

static inline void double_lock(struct memory_drive *m, bool locked) {
	for (unsigned i = 0; i < DOUBLE_MAX; i++)
		if (m->disks[i])
			lock_disk(m->disks[i], locked);
}

static inline void double_end(struct memory_drive *m) {
	m->progress = 65535;
	m->state = m->fails ? NVME_FAILED : NVME_DONE;
	double_lock(m, m->fails);
	for (unsigned i = 0; !m->fails && i < DOUBLE_MAX; i++)
		if (m->disks[i])
			double_erase(m, m->disks[i], m->action == NVME_SANACT_CRYPTO);
}

static inline int double_sanitize(struct memory_drive *m, uint32_t cdw10) {
	if (m->refuses_sanitize)
		return m->refuses_sanitize;
	if (m->state == NVME_RUNNING)
		return 0x01d;
	m->sanitizes++;
	m->action = cdw10 & 7;
	m->state = NVME_RUNNING;
	m->progress = 0;
	double_lock(m, true);
	return 0;
}

static inline int double_format(struct memory_drive *m, uint32_t nsid, uint32_t cdw10) {
	if (m->refuses_format)
		return m->refuses_format;
	if ((cdw10 & 15) != m->flbas[nsid - 1] || (cdw10 & 0x1f0))
		return 0x10a; // the double is strict: other than the namespace has
	m->formats++;
	for (unsigned i = 0; i < DOUBLE_MAX; i++)
		if (m->disks[i] && (i + 1 == nsid || m->fna & 3))
			double_erase(m, m->disks[i], (cdw10 >> 9 & 7) == NVME_SES_CRYPTO);
	return 0;
}

static inline void double_list(struct memory_drive *m, bool allocated, uint8_t *page) {
	unsigned n = 0;

	memset(page, 0, NVME_PAGE);
	for (unsigned i = 0; i < DOUBLE_MAX; i++)
		if (m->disks[i])
			put_le32(page + 4 * n++, i + 1);
	if ((allocated && m->detached) || (m->appears_after && m->lists >= m->appears_after))
		put_le32(page + 4 * n, m->detached ? m->detached : 99);
	m->lists++;
}

static inline int double_identify(struct memory_drive *m, uint32_t nsid, uint32_t cns, uint8_t *page) {
	if (cns == NVME_CNS_CONTROLLER) {
		page_controller(page, m->oacs, m->fna, m->sanicap, m->cmic, DOUBLE_MAX);
		if (m->serial)
			page_text(page + 4, m->serial, 20);
	} else if (cns == NVME_CNS_NAMESPACE)
		page_namespace(page, m->disks[nsid - 1]->bytes / 512, m->flbas[nsid - 1], 0);
	else if (m->refuses_lists || (cns == NVME_CNS_ALLOCATED && !(m->oacs & 8)))
		return 0x002;
	else
		double_list(m, cns == NVME_CNS_ALLOCATED, page);
	return 0;
}

static inline int double_nvme(struct drive *d, const uint8_t command[NVME_COMMAND], void *data, uint32_t size,
			      uint32_t seconds) {
	struct memory_drive *m = memory_unit(d)->drive;
	uint32_t nsid = get_le32(command + 4), cdw10 = get_le32(command + 40);

	(void)size, (void)seconds;
	switch (command[0]) {
	case 0x02:
		if (cdw10 != 0x007f0081 || !m->sanicap)
			return 0x4002;
		page_sanitize(data, m->progress, m->bad_state ? m->bad_state : m->state,
			      m->reports_action ? m->reports_action : m->action, m->estimate, m->estimate, m->estimate);
		return 0;
	case 0x06: return double_identify(m, nsid, cdw10, data);
	case 0x80: return double_format(m, nsid, cdw10);
	case 0x84: return m->sanicap ? double_sanitize(m, cdw10) : 0x4001;
	default: return 0x001;
	}
}

static inline int64_t double_now(struct drive *d) { return memory_unit(d)->drive->now; }

static inline void double_wait(struct drive *d, int64_t until) {
	struct memory_drive *m = memory_unit(d)->drive;

	m->now = until;
	m->waits++;
	if (m->state != NVME_RUNNING)
		return;
	if (m->swings)
		m->progress = m->waits % 2 ? 655 : 600;
	else if (step_on(&m->progress, m->step, m->stuck_at))
		double_end(m);
}

static const struct drive_ops double_ops = {double_nsid, double_nvme, no_scsi,	  no_mmc,
					    no_opal,	 double_now,  double_wait};
