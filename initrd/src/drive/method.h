// SPDX-License-Identifier: Apache-2.0
// The ways to erase a disk, by their names in contract/erasure.md: by writing, or by a command of the drive.
#pragma once

#define REPORTED_MAX 160u // bytes of what a drive reported of a command, as text

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

int method_parse(const char *word, enum erase_method *ret); // -EINVAL: not a method
const char *method_name(enum erase_method method);
