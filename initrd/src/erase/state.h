// SPDX-License-Identifier: Apache-2.0
// What is requested of the erase of one disk, and how it went.
#pragma once

#include "disk/device.h"
#include "erase/bad.h"
#include "erase/samples.h"

#define ERASE_EDGE (16u * BLOCK) // first and last bytes of a disk and of a partition, where signatures are

#define ERASE_FEW 8u // disks side by side: up to 64 MiB of buffers for all of them

#define REPORTED_MAX 160u // bytes of what a drive reported, as text

static inline uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

enum erase_level {
	ERASE_SIGNATURES, // partition tables, and signatures of filesystems, RAID and LVM
	ERASE_EMPTY,	  // every block reads as zero; nothing is claimed about the medium
	ERASE_CLEAR,	  // every block was overwritten with bytes that cannot be compressed
	ERASE_PURGE,	  // the drive erased itself
};

enum erase_method {
	METHOD_AUTO,
	METHOD_OVERWRITE,
	METHOD_NVME_FORMAT_USER,
	METHOD_NVME_FORMAT_CRYPTO,
	METHOD_NVME_SANITIZE_BLOCK,
	METHOD_NVME_SANITIZE_CRYPTO,
	METHOD_NVME_SANITIZE_OVERWRITE,
	METHOD_SCSI_SANITIZE_BLOCK,
	METHOD_SCSI_SANITIZE_CRYPTO,
	METHOD_SCSI_SANITIZE_OVERWRITE,
	METHOD_ATA_SANITIZE_BLOCK,
	METHOD_ATA_SANITIZE_CRYPTO,
	METHOD_ATA_SANITIZE_OVERWRITE,
	METHOD_ATA_SECURITY_ERASE,
	METHOD_ATA_SECURITY_ERASE_ENHANCED,
	METHOD_MMC_SANITIZE,
	METHOD_MMC_SECURE_ERASE,
	METHOD_OPAL_PSID_REVERT,
};

struct erase {
	enum erase_level level;
	enum erase_method by; // requested; allowed by method_check
	bool full;	// all of it is read back, else samples and the edges
	unsigned crowd; // disks side by side: of many, each has less memory

	// How it went.
	const char *method; // contract/erasure.md; NULL: nothing
	struct bad bad;
	uint8_t seed[SEED]; // of the samples; drawn after the disk was emptied
	uint64_t samples;   // 0: none, all that was emptied was read
	uint64_t read;	    // bytes that were read back, without error
	double seconds;
	char reported[REPORTED_MAX]; // by the drive, after one of its commands
	uint64_t compared;	     // blocks, with what they held before that command
};
