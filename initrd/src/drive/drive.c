// SPDX-License-Identifier: Apache-2.0
#include "drive/drive.h"

#include "base/clock.h"

int drive_follow(struct drive *drive, uint32_t seconds, int (*poll)(struct drive *, uint32_t *, struct fault *),
		 struct fault *fault) {
	int64_t now = drive->ops->now(drive);
	struct sanitize_watch watch;

	for (sanitize_begin(&watch, seconds, now);; now = drive->ops->now(drive)) {
		uint32_t progress = 0;
		int r = poll(drive, &progress, fault);
		enum sanitize_verdict verdict = sanitize_step(&watch, progress, now);
		if (r != 0)
			return r < 0 ? r : 0;
		if (drive->tick)
			drive->tick(drive, progress);
		if (verdict != SANITIZE_AT_WORK)
			return fault_set(fault, CODE_FAILED,
					 "%s: the drive %s (%u of %u after %lld s); it cannot be stopped and "
					 "continues by itself: run the plan again later, or replace the drive",
					 drive->device->name,
					 verdict == SANITIZE_STUCK ? "has made no progress for too long"
								   : "takes too long to erase itself",
					 progress, SANITIZE_WHOLE, (long long)((now - watch.started) / SECOND));
		drive->ops->wait(drive, sanitize_next(&watch, now));
	}
}
