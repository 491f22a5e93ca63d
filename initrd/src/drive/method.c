// SPDX-License-Identifier: Apache-2.0
#include "drive/method.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

static const char *const names[] = {
	[METHOD_AUTO] = "auto",
	[METHOD_OVERWRITE] = "overwrite",
	[METHOD_NVME_FORMAT_USER] = "nvme-format-user",
	[METHOD_NVME_FORMAT_CRYPTO] = "nvme-format-crypto",
	[METHOD_NVME_SANITIZE_BLOCK] = "nvme-sanitize-block",
	[METHOD_NVME_SANITIZE_CRYPTO] = "nvme-sanitize-crypto",
	[METHOD_NVME_SANITIZE_OVERWRITE] = "nvme-sanitize-overwrite",
	[METHOD_SCSI_SANITIZE_BLOCK] = "scsi-sanitize-block",
	[METHOD_SCSI_SANITIZE_CRYPTO] = "scsi-sanitize-crypto",
	[METHOD_SCSI_SANITIZE_OVERWRITE] = "scsi-sanitize-overwrite",
	[METHOD_ATA_SANITIZE_BLOCK] = "ata-sanitize-block",
	[METHOD_ATA_SANITIZE_CRYPTO] = "ata-sanitize-crypto",
	[METHOD_ATA_SANITIZE_OVERWRITE] = "ata-sanitize-overwrite",
	[METHOD_ATA_SECURITY_ERASE] = "ata-security-erase",
	[METHOD_ATA_SECURITY_ERASE_ENHANCED] = "ata-security-erase-enhanced",
	[METHOD_MMC_SANITIZE] = "mmc-sanitize",
	[METHOD_MMC_SECURE_ERASE] = "mmc-secure-erase",
	[METHOD_OPAL_PSID_REVERT] = "opal-psid-revert",
};

int method_parse(const char *word, enum erase_method *ret) {
	for (unsigned i = 0; i < ELEMENTS(names); i++)
		if (!strcmp(word, names[i])) {
			*ret = (enum erase_method)i;
			return 0;
		}
	return -EINVAL;
}

const char *method_name(enum erase_method method) { return names[method]; }
