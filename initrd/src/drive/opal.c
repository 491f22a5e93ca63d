// SPDX-License-Identifier: Apache-2.0
#include "drive/opal.h"

#include <linux/sed-opal.h>
#include <stdio.h>
#include <string.h>

#include "drive/psids.h"

// Status codes of methods (TCG Storage Architecture Core 2.01, table 166).
enum { NOT_AUTHORIZED = 0x01, LOCKED_OUT = 0x12 };

bool opal_is(struct drive *drive) {
	int flags = drive->ops->opal(drive, NULL);
	return flags >= 0 && flags & OPAL_FL_SUPPORTED;
}

void opal_offer(struct drive *drive, struct offers *offers) {
	size_t used = strlen(offers->note);
	char psid[PSID + 1];

	if (offers->hides || !opal_is(drive))
		return;
	if (drive->psids && psids_find(drive->psids, drive->serial, psid) == 0)
		offers_add_revert(offers);
	else
		snprintf(offers->note + used, sizeof(offers->note) - used, "%sno PSID of its serial number is known",
			 used ? "; " : "");
	explicit_bzero(psid, sizeof(psid));
}

int opal_revert(struct drive *drive, struct fault *fault) {
	const char *name = drive->device->name;
	char psid[PSID + 1];
	int r = psids_find(drive->psids, drive->serial, psid);

	if (r == 0)
		r = drive->ops->opal(drive, psid);
	explicit_bzero(psid, sizeof(psid));
	if (r < 0)
		return fault_errno(fault, CODE_FAILED, r, "%s: revert by PSID", name);
	snprintf(drive->reported, sizeof(drive->reported), "Opal revert: status 0x%02x", (unsigned)r);
	if (r == NOT_AUTHORIZED || r == LOCKED_OUT)
		return fault_set(fault, CODE_UNSUPPORTED, "%s: the drive refuses its PSID: %s", name,
				 r == LOCKED_OUT ? "too many attempts; power the drive off and on"
						 : "it is not that of this drive");
	return r == 0 ? 0
		      : fault_set(fault, CODE_FAILED, "%s: the revert by PSID ended with status 0x%02x", name,
				  (unsigned)r);
}
