// SPDX-License-Identifier: Apache-2.0
// Threads that share one job. Each runs the same function, which takes items by their index until none is left or one
// thread has failed.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

#define CREW_MAX 64u // threads

struct crew {
	pthread_mutex_t lock; // for the fields below, and for what the caller shares between its threads
	uint32_t items, next; // next: the first item that no thread has taken
	int error;	      // 0: no thread has failed
	uint64_t error_at;
	struct fault fault;

	pthread_t threads[CREW_MAX]; // only for the thread that calls crew_start, crew_run and crew_join
	unsigned started;
};

#define CREW_INIT(item_count) {.lock = PTHREAD_MUTEX_INITIALIZER, .items = (item_count)}

typedef void *crew_work(void *context); // returns NULL

// Number of threads for `items`: `per_core` for each core that this process may use, at most `most`, at least one.
unsigned crew_size(unsigned per_core, unsigned most, uint32_t items);

// Starts up to `count` threads. Fewer are no error, none is.
int crew_start(struct crew *crew, unsigned count, crew_work *work, void *context, struct fault *fault);
void crew_join(struct crew *crew);

// Runs `work` in `count` threads, one of which is the caller's, and waits for all. Returns crew_result.
int crew_run(struct crew *crew, unsigned count, crew_work *work, void *context, struct fault *fault);

// Takes the next items, at most `most`: [*ret_from, *ret_to). Returns false if none is left, or a thread has failed.
bool crew_take(struct crew *crew, uint32_t most, uint32_t *ret_from, uint32_t *ret_to);

// Records the fault, with the lock held. Of several, the one with the lowest `at` stays; of these the first.
void crew_fail(struct crew *crew, int error, uint64_t at, const struct fault *fault);

// Returns the recorded error, with its fault, or 0. Requires crew_join before it, or the lock.
int crew_result(const struct crew *crew, struct fault *fault);
