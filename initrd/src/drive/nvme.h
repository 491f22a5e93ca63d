// SPDX-License-Identifier: Apache-2.0
// Wire structures of NVMe: admin commands as 64 bytes, and what a drive returns. Pure functions over buffers. Citations
// are of NVM Express Base Specification 2.0; "NVM" is the NVM Command Set Specification 1.0.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NVME_COMMAND 64u     // bytes of a submission queue entry (3.3.3.1)
#define NVME_PAGE 4096u	     // bytes of what Identify returns (5.17)
#define NVME_LOG 512u	     // bytes of the log page Sanitize Status (5.16.1.25)
#define NVME_LIST_MAX 1024u  // identifiers in one list of namespaces
#define NVME_ALL 0xffffffffu // as a namespace: all of them; as an estimate: none

enum nvme_cns { // 5.17.1
	NVME_CNS_NAMESPACE = 0x00,
	NVME_CNS_CONTROLLER = 0x01,
	NVME_CNS_ACTIVE = 0x02,	   // namespaces that are attached to this controller
	NVME_CNS_ALLOCATED = 0x10, // namespaces that exist; needs Namespace Management
};

enum nvme_ses { NVME_SES_USER = 1, NVME_SES_CRYPTO = 2 }; // 5.14, CDW10 bits 11:09

enum nvme_sanact { NVME_SANACT_BLOCK = 2, NVME_SANACT_OVERWRITE = 3, NVME_SANACT_CRYPTO = 4 }; // 5.24, CDW10 bits 02:00

// Identify Controller, 5.17.2.1.
struct nvme_controller {
	char serial[21], model[41], nqn[257];
	bool has_format;    // OACS bit 1
	bool has_allocated; // OACS bit 3: it can list namespaces that are not attached
	bool has_others;    // CMIC bit 1: the drive may have several controllers
	bool format_all;    // FNA bits 0 and 1: a Format, or its secure erase, reaches all namespaces
	bool format_crypto; // FNA bit 2
	bool sanitize_crypto, sanitize_block, sanitize_overwrite; // SANICAP bits 0 to 2
	uint32_t namespaces;					  // NN: the largest valid identifier
};

// Identify Namespace, NVM 4.1.5.1: what a Format has to keep.
struct nvme_namespace {
	uint64_t blocks;    // NSZE; 0: not attached
	uint8_t format;	    // index of the LBA format, from FLBAS
	bool extended;	    // FLBAS bit 4: metadata behind the data
	uint8_t protection; // DPS bits 2:0: type
	bool first;	    // DPS bit 3: it is in the first bytes of the metadata
};

// Log page 0x81, 5.16.1.25.
struct nvme_sanitize {
	uint16_t progress, status;				      // SPROG; SSTAT as it is
	unsigned state;						      // SSTAT bits 02:00
	unsigned action;					      // SCDW10 bits 02:00
	uint32_t command;					      // SCDW10
	uint32_t estimate_overwrite, estimate_block, estimate_crypto; // seconds; NVME_ALL: no estimate
};

enum nvme_state { // SSTAT bits 02:00
	NVME_NEVER = 0,
	NVME_DONE = 1,
	NVME_RUNNING = 2,
	NVME_FAILED = 3,
	NVME_DONE_NO_DEALLOCATE = 4,
};

void nvme_identify(uint32_t nsid, enum nvme_cns cns, uint8_t ret[NVME_COMMAND]);
void nvme_get_sanitize_log(uint8_t ret[NVME_COMMAND]);

// Format NVM (5.14): keeps the LBA format, metadata and protection of the namespace.
void nvme_format(uint32_t nsid, const struct nvme_namespace *as, enum nvme_ses ses, uint8_t ret[NVME_COMMAND]);

// Sanitize (5.24): one overwrite pass of zeros; a drive that fails returns no user data until another one succeeds
// (AUSE 0).
void nvme_sanitize(enum nvme_sanact action, uint8_t ret[NVME_COMMAND]);

// Returns -EINVAL if the buffer is too short, or holds values that cannot be.
int nvme_controller_decode(const uint8_t *data, size_t size, struct nvme_controller *ret);
int nvme_namespace_decode(const uint8_t *data, size_t size, struct nvme_namespace *ret);
int nvme_sanitize_decode(const uint8_t *data, size_t size, struct nvme_sanitize *ret);

// Decodes identifiers in ascending order, up to the first 0 (5.17.2.2). Returns -EINVAL if they are not in that
// order; -E2BIG if the list is full, so that there may be more.
int nvme_list_decode(const uint8_t *data, size_t size, uint32_t ret[NVME_LIST_MAX], unsigned *ret_count);

// Writes what a status means (4.2.3), for people: "status 0x015, operation denied".
void nvme_status_text(unsigned status, char *ret, size_t size);
