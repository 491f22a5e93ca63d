// SPDX-License-Identifier: Apache-2.0
#include "base/progress.h"

#include "base/clock.h"

void progress_begin(struct progress *progress, uint64_t total) {
	progress->total = total;
	progress->done = progress->shown_done = progress->rate = 0;
	progress->shown_at = clock_now();
}

static void show(struct progress *progress, int64_t now) {
	int64_t took = now - progress->shown_at;
	uint64_t more = progress->done > progress->shown_done ? progress->done - progress->shown_done : 0;

	progress->rate = took > 0 ? (uint64_t)((double)more * SECOND / (double)took) : 0;
	progress->shown_at = now;
	progress->shown_done = progress->done;
	if (progress->show)
		progress->show(progress);
}

void progress_tick(struct progress *progress, uint64_t done) {
	int64_t now = clock_now();
	progress->done = done;
	if (now - progress->shown_at >= SECOND)
		show(progress, now);
}

void progress_end(struct progress *progress) { show(progress, clock_now()); }
