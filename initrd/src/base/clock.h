// SPDX-License-Identifier: Apache-2.0
// Monotonic time in nanoseconds, and waits that end. A deadline is a point of that clock.
#pragma once

#include <stdint.h>

#define SECOND INT64_C(1000000000)
#define MILLISECOND INT64_C(1000000)

int64_t clock_now(void);
int clock_poll_timeout(int64_t deadline); // milliseconds for poll(), 0 when passed, rounded up
void clock_wait_until(int64_t deadline);

int64_t clock_chance(int64_t below); // a time by chance, from 0 to `below` - 1

// Pause between retries: doubles from 250 ms to `max`. Of each up to the half is left out, by chance: nodes that were
// interrupted together do not return together.
struct backoff {
	int64_t next, max;
};
int64_t backoff_next(struct backoff *backoff); // length of the pause to make now
