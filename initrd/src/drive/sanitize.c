// SPDX-License-Identifier: Apache-2.0
#include "drive/sanitize.h"

#include "base/clock.h"

#define HOUR (3600 * SECOND)
#define LONGEST UINT32_C(5000000) // seconds of an estimate that is believed: 58 days

void sanitize_begin(struct sanitize_watch *watch, uint32_t seconds, int64_t now) {
	int64_t estimate = seconds == SANITIZE_UNKNOWN ? 0 : (seconds < LONGEST ? seconds : LONGEST) * SECOND;

	*watch = (struct sanitize_watch){
		.started = now, .changed = now, .stall = 2 * HOUR + estimate, .limit = 7 * 24 * HOUR + 2 * estimate};
}

enum sanitize_verdict sanitize_step(struct sanitize_watch *watch, uint32_t progress, int64_t now) {
	if (progress > watch->furthest) {
		watch->furthest = progress;
		watch->changed = now;
	}
	if (now - watch->changed >= watch->stall)
		return SANITIZE_STUCK;
	return now - watch->started >= watch->limit ? SANITIZE_TOO_LONG : SANITIZE_AT_WORK;
}

int64_t sanitize_next(const struct sanitize_watch *watch, int64_t now) {
	int64_t pause = (now - watch->started) / 8;

	if (pause < 100 * MILLISECOND)
		pause = 100 * MILLISECOND;
	return now + (pause < 10 * SECOND ? pause : 10 * SECOND);
}
