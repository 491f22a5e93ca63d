// SPDX-License-Identifier: Apache-2.0
// What the doubles of drives that erase themselves have in common: the disk in memory that they erase, and how far they
// are.
#pragma once

#include "base/bytes.h"
#include "drive/drive.h"
#include "disk/memory_disk.h"

static inline uint64_t tenant_word(uint64_t at) { return at * 0x9e3779b97f4a7c15u + 1; }

// Bytes that are not repeated, as of a tenant.
static inline void fill(struct memory_disk *disk) {
	for (uint64_t at = 0; at < disk->bytes; at += 8)
		put_le64(disk->data + at, tenant_word(at));
}

static inline bool kept(const struct memory_disk *disk) {
	for (uint64_t at = 0; at < disk->bytes; at += 8)
		if (get_le64(disk->data + at) != tenant_word(at))
			return false;
	return true;
}

// A new `key` makes noise of all bytes but those from `left_from` to `left_to`; without noise they are zero.
static inline void erase_disk_at_once(struct memory_disk *disk, unsigned key, bool noise, uint64_t left_from,
				      uint64_t left_to) {
	uint64_t x = 88172645463325252u + key;

	for (uint64_t at = 0; at < disk->bytes; at += 8) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		if (at < left_from || at >= left_to)
			put_le64(disk->data + at, noise ? x : 0);
	}
}

// While it is at work, and after it failed, a drive returns no data.
static inline void lock_disk(struct memory_disk *disk, bool locked) {
	disk->bad_from = 0;
	disk->bad_to = locked ? disk->bytes : 0;
}

// One step of `progress` of 65536, which never leaves `stuck_at`, if that is not 0. True: it has ended.
static inline bool step_on(unsigned *progress, unsigned step, unsigned stuck_at) {
	*progress += step;
	if (stuck_at && *progress > stuck_at)
		*progress = stuck_at;
	return *progress >= 65535;
}

// Of drives that are no eMMC.
static inline int no_mmc(struct drive *d, struct mmc_command *commands, unsigned count, void *page, uint32_t seconds) {
	(void)d, (void)commands, (void)count, (void)page, (void)seconds;
	return -ENOTTY;
}

// Of drives without Opal.
static inline int no_opal(struct drive *d, const char *psid) {
	(void)d, (void)psid;
	return -ENOTTY;
}

// Of drives that are no SCSI.
static inline int no_scsi(struct drive *d, const struct scsi_command *command, void *data, int size,
			  uint8_t sense[SCSI_SENSE], uint32_t seconds) {
	(void)d, (void)command, (void)data, (void)size, (void)sense, (void)seconds;
	return -ENOTTY;
}

// Of drives that are no NVMe.
static inline int64_t no_nsid(struct drive *d) {
	(void)d;
	return -ENOTTY;
}

static inline int no_nvme(struct drive *d, const uint8_t command[NVME_COMMAND], void *data, uint32_t size,
			  uint32_t seconds) {
	(void)d, (void)command, (void)data, (void)size, (void)seconds;
	return -ENOTTY;
}
