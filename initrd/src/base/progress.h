// SPDX-License-Identifier: Apache-2.0
// The progress of a long step. Libraries may update it at any rate; the verb's `show` is called at most once per
// second.
#pragma once

#include <stdint.h>

struct progress {
	uint64_t done, total; // bytes
	uint64_t rate;	      // bytes a second since it was last shown
	int64_t shown_at;     // 0: never
	uint64_t shown_done;
	void (*show)(const struct progress *);
};

void progress_begin(struct progress *progress, uint64_t total);
void progress_tick(struct progress *progress, uint64_t done);
void progress_end(struct progress *progress); // shows the last state whatever the time
