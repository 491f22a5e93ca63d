// SPDX-License-Identifier: Apache-2.0
#include "erase/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "base/crew.h"
#include "erase/erase.h"
#include "erase/level.h"
#include "erase/method.h"
#include "erase/purge.h"

struct work {
	struct crew crew;
	struct erase_fleet *fleet;
	pthread_mutex_t lock; // of `all`
	struct progress all;
};

static struct work *at_work; // one fleet at a time: `show` of a progress has no context

// What all disks have done so far.
static void show_all(const struct progress *one) {
	const struct erase_fleet *fleet = ((const struct erase_job *)(const void *)one)->fleet;

	pthread_mutex_lock(&at_work->lock);
	at_work->all.done = at_work->all.total = 0;
	for (size_t i = 0; i < fleet->count; i++) {
		at_work->all.done += __atomic_load_n(&fleet->jobs[i].progress.done, __ATOMIC_RELAXED);
		at_work->all.total += __atomic_load_n(&fleet->jobs[i].progress.total, __ATOMIC_RELAXED);
	}
	at_work->all.rate = 0;
	for (size_t i = 0; i < fleet->count; i++)
		at_work->all.rate += __atomic_load_n(&fleet->jobs[i].progress.rate, __ATOMIC_RELAXED);
	fleet->show(&at_work->all);
	pthread_mutex_unlock(&at_work->lock);
}

static void *erase_next(void *context) {
	struct work *work = context;
	uint32_t from, to;

	while (crew_take(&work->crew, 1, &from, &to)) {
		struct erase_job *job = &work->fleet->jobs[from];
		if (method_is_command(job->erase.level, job->erase.by)) {
			if (job->leader == from)
				purge_drive(work->fleet, from);
			continue;
		}
		if (job->result == ERASED)
			purge_unlock(work->fleet, job);
		if (job->result == ERASED &&
		    erase_disk(&job->device, &job->erase, &job->progress, &job->fault) < 0)
			job->result = ERASE_FAILED;
		__atomic_store_n(&job->progress.rate, 0, __ATOMIC_RELAXED);
	}
	return NULL;
}

// Before any thread changes a result.
static void find_leaders(struct erase_fleet *fleet) {
	for (size_t i = 0; i < fleet->count; i++) {
		struct erase_job *job = &fleet->jobs[i];
		job->leader = job->result == ERASED ? i : SIZE_MAX;
		for (size_t k = 0; job->leader == i && job->disk.drive[0] && k < i; k++)
			if (fleet->jobs[k].leader == k && !strcmp(fleet->jobs[k].disk.drive, job->disk.drive))
				job->leader = k;
	}
}

int fleet_erase(struct erase_fleet *fleet, struct fault *fault) {
	struct work work = {.crew = CREW_INIT((uint32_t)fleet->count),
			    .fleet = fleet,
			    .lock = PTHREAD_MUTEX_INITIALIZER};
	unsigned threads = fleet->count < CREW_MAX ? (unsigned)fleet->count : CREW_MAX;

	at_work = &work;
	find_leaders(fleet);
	for (size_t i = 0; i < fleet->count; i++) {
		fleet->jobs[i].fleet = fleet;
		fleet->jobs[i].erase.crowd = threads;
		fleet->jobs[i].progress.show = fleet->show ? show_all : NULL;
		if (fleet->jobs[i].result == ERASED)
			fleet->jobs[i].progress.total = fleet->jobs[i].device.bytes;
	}
	return crew_run(&work.crew, threads, erase_next, &work, fault);
}

static bool is_worse(enum exit_code code, enum exit_code than) {
	static const unsigned char rank[] = {
		[CODE_DONE] = 0, [CODE_USAGE] = 1, [CODE_UNSUPPORTED] = 3, [CODE_DISK] = 2, [CODE_FAILED] = 4,
		[CODE_INTEGRITY] = 5, [CODE_NETWORK] = 1};
	return rank[code] > rank[than];
}

enum exit_code fleet_code(const struct erase_fleet *fleet) {
	enum exit_code worst = CODE_DONE;
	bool touched = false;

	for (size_t i = 0; i < fleet->count; i++) {
		const struct erase_job *job = &fleet->jobs[i];
		if (job->result == ERASE_FAILED && is_worse(job->fault.code, worst))
			worst = job->fault.code;
		touched |= job->result == ERASED || (job->result == ERASE_FAILED && job->fault.code != CODE_DISK);
	}
	return worst == CODE_DISK && touched ? CODE_FAILED : worst;
}

static void describe(const struct erase_fleet *fleet, enum erase_result result, const char *head, struct text *text) {
	for (size_t i = 0; i < fleet->count; i++) {
		const struct erase_job *job = &fleet->jobs[i];
		if (job->result != result)
			continue;
		text_addf(text, "%s%s (%.160s)", head, job->disk.name, job->fault.text);
		head = ", ";
	}
}

void fleet_describe(const struct erase_fleet *fleet, enum erase_level level, struct text *text) {
	size_t good = 0;

	for (size_t i = 0; i < fleet->count; i++)
		good += fleet->jobs[i].result == ERASED;
	text_addf(text, "%s: %zu disk%s", erase_level_name(level), good, good == 1 ? "" : "s");
	describe(fleet, ERASE_FAILED, "; failed: ", text);
	describe(fleet, ERASE_LEFT_OUT, "; left out: ", text);
}

void fleet_free(struct erase_fleet *fleet) {
	for (size_t i = 0; i < fleet->count; i++)
		device_close(&fleet->jobs[i].device);
	free(fleet->jobs);
	*fleet = (struct erase_fleet){0};
}
