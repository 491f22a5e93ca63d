// SPDX-License-Identifier: Apache-2.0
#include "base/crew.h"

#include <sched.h>

unsigned crew_size(unsigned per_core, unsigned most, uint32_t items) {
	unsigned size = per_core;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		size *= (unsigned)CPU_COUNT(&set);
	size = size < most ? size : most;
	size = size < items ? size : items;
	return size > 1 ? size : 1;
}

int crew_start(struct crew *crew, unsigned count, crew_work *work, void *context, struct fault *fault) {
	int error = 0;

	for (unsigned i = 0; error == 0 && i < count && crew->started < CREW_MAX; i++) {
		error = pthread_create(&crew->threads[crew->started], NULL, work, context);
		crew->started += error == 0;
	}
	return crew->started == 0 && error ? fault_errno(fault, CODE_FAILED, error, "starting a thread") : 0;
}

void crew_join(struct crew *crew) {
	while (crew->started > 0)
		pthread_join(crew->threads[--crew->started], NULL);
}

int crew_run(struct crew *crew, unsigned count, crew_work *work, void *context, struct fault *fault) {
	struct fault ignored; // the caller's thread can do all of it

	(void)crew_start(crew, count - 1, work, context, &ignored);
	(void)work(context);
	crew_join(crew);
	return crew_result(crew, fault);
}

bool crew_take(struct crew *crew, uint32_t most, uint32_t *ret_from, uint32_t *ret_to) {
	uint32_t count;

	pthread_mutex_lock(&crew->lock);
	count = crew->error ? 0 : crew->items - crew->next;
	count = count < most ? count : most;
	*ret_from = crew->next;
	*ret_to = crew->next += count;
	pthread_mutex_unlock(&crew->lock);
	return count > 0;
}

void crew_fail(struct crew *crew, int error, uint64_t at, const struct fault *fault) {
	if (crew->error && at >= crew->error_at)
		return;
	crew->error = error;
	crew->error_at = at;
	crew->fault = *fault;
}

int crew_result(const struct crew *crew, struct fault *fault) {
	if (crew->error)
		*fault = crew->fault;
	return crew->error;
}
