// SPDX-License-Identifier: Apache-2.0
// What is requested of the erase of one disk, and how it went.
#pragma once

#include "disk/device.h"
#include "drive/method.h"
#include "erase/bad_ranges.h"
#include "erase/samples.h"

#define ERASE_EDGE (16u * BLOCK) // first and last bytes of a disk and of a partition, where signatures are

#define ERASE_FEW 8u // disks side by side: up to 64 MiB of buffers for all of them

static inline uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

enum erase_level {
	ERASE_SIGNATURES, // partition tables, and signatures of filesystems, RAID and LVM
	ERASE_EMPTY,	  // every block reads as zero; nothing is claimed about the medium
	ERASE_CLEAR,	  // every block was overwritten with bytes that cannot be compressed
	ERASE_PURGE,	  // the drive erased itself
};

struct erase {
	enum erase_level level;
	enum erase_method by; // requested; allowed by erase_level_check
	bool full;	      // all of it is read back, else samples and the edges
	unsigned parallel;    // disks side by side: of many, each has less memory

	// How it went.
	const char *method; // contract/erasure.md; NULL: nothing
	struct bad_ranges bad;
	uint8_t seed[SEED]; // of the samples; drawn after the disk was emptied
	uint64_t samples;   // 0: none, all that was emptied was read
	uint64_t read;	    // bytes that were read back, without error
	double seconds;
	char reported[REPORTED_MAX]; // by the drive, after one of its commands
	uint64_t compared;	     // blocks, with what they held before that command
};
