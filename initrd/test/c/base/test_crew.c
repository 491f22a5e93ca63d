// SPDX-License-Identifier: Apache-2.0
// Threads that share items.
#include "base/crew.h"
#include "tap.h"

#include <sched.h>

#define ITEMS 10000u

static struct crew crew;
static unsigned taken[ITEMS];

static void *take_all(void *context) {
	const uint32_t most = *(const uint32_t *)context;

	for (uint32_t from, to; crew_take(&crew, most, &from, &to);)
		for (uint32_t i = from; i < to; i++)
			taken[i]++; // without a lock: no other thread has this item
	return NULL;
}

static void test_each_once(uint32_t most) {
	struct fault fault;
	unsigned wrong = 0;

	crew = (struct crew)CREW_INIT(ITEMS);
	memset(taken, 0, sizeof(taken));
	ok(crew_run(&crew, 7, take_all, &most, &fault) == 0 && crew.started == 0, "seven threads end");
	for (uint32_t i = 0; i < ITEMS; i++)
		wrong += taken[i] != 1;
	ok(wrong == 0, "each item is taken once, %u at a time", most);
}

// Fails at every item from 10 on. The thread that has item 10 waits until another one has failed, at a higher item.
static void *fail_late(void *context) {
	struct fault fault;
	uint32_t i, end;

	(void)context;
	while (crew_take(&crew, 1, &i, &end)) {
		if (i < 10)
			continue;
		pthread_mutex_lock(&crew.lock);
		while (i == 10 && !crew.error) {
			pthread_mutex_unlock(&crew.lock);
			sched_yield();
			pthread_mutex_lock(&crew.lock);
		}
		crew_fail(&crew, fault_set(&fault, CODE_INTEGRITY, "item %u", i), i, &fault);
		pthread_mutex_unlock(&crew.lock);
	}
	return NULL;
}

static void test_faults(void) {
	struct fault fault = {0}, other = {0};
	uint32_t from, to;

	crew = (struct crew)CREW_INIT(ITEMS);
	ok(crew_run(&crew, 4, fail_late, NULL, &fault) < 0, "a fault ends the work");
	same(fault.text, "item 10", "the fault at the lowest place is returned");
	ok(fault.code == CODE_INTEGRITY, "with its code");
	ok(!crew_take(&crew, 1, &from, &to) && crew.next < ITEMS, "no item is handed out after a fault");
	fault_set(&other, CODE_FAILED, "again");
	crew_fail(&crew, -1, crew.error_at, &other);
	ok(crew_result(&crew, &fault) < 0 && !strcmp(fault.text, "item 10"), "of two at one place the first");
}

static void test_size(void) {
	ok(crew_size(1, 64, 0) == 1 && crew_size(1, 64, 1) == 1, "one item, or none: one thread");
	ok(crew_size(1, 1, 100) == 1, "at most as many as wanted");
	ok(crew_size(2, 1000, 100000) == 2 * crew_size(1, 1000, 100000), "several for each core");
}

int main(void) {
	test_each_once(1);
	test_each_once(32);
	test_faults();
	test_size();
	return tap_done();
}
