// SPDX-License-Identifier: Apache-2.0
#include "erase/method.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "erase/level.h"

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

int method_check(enum erase_level level, enum erase_method method, struct fault *fault) {
	bool is_purge = method != METHOD_OVERWRITE && method != METHOD_ATA_SECURITY_ERASE;

	if (method == METHOD_AUTO || level == ERASE_CLEAR || (level == ERASE_PURGE && is_purge))
		return 0;
	return fault_set(fault, CODE_USAGE, "method=%s cannot reach level=%s; the method of that level is auto%s",
			 method_name(method), erase_level_name(level),
			 level == ERASE_PURGE ? ", or a command of the drive that reaches all of it" : "");
}

bool method_is_command(enum erase_level level, enum erase_method method) {
	return level == ERASE_PURGE || (method != METHOD_AUTO && method != METHOD_OVERWRITE);
}
