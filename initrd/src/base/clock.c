// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <sys/random.h>
#include <time.h>

int64_t clock_now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

int clock_poll_timeout(int64_t deadline) {
	int64_t left = deadline - clock_now();
	if (left <= 0)
		return 0;
	left = (left + MILLISECOND - 1) / MILLISECOND;
	return left > INT_MAX ? INT_MAX : (int)left;
}

void clock_wait_until(int64_t deadline) {
	struct timespec t = {.tv_sec = deadline / SECOND, .tv_nsec = deadline % SECOND};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

int64_t clock_chance(int64_t below) {
	uint64_t n;
	if (getrandom(&n, sizeof(n), GRND_NONBLOCK) != sizeof(n))
		n = (uint64_t)clock_now(); // the kernel has no random numbers yet
	return (int64_t)(n % (uint64_t)below);
}

int64_t backoff_next(struct backoff *backoff) {
	int64_t pause = backoff->next ? backoff->next : 250 * MILLISECOND;
	if (pause > backoff->max)
		pause = backoff->max;
	backoff->next = pause * 2;
	return pause - clock_chance(pause / 2);
}
