// SPDX-License-Identifier: Apache-2.0
#include "erase/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/crew.h"
#include "drive/method.h"
#include "erase/erase.h"
#include "erase/level.h"
#include "erase/purge.h"

struct work {
	struct crew crew;
	struct erase_batch *batch;
	pthread_mutex_t lock; // of `all`
	struct progress all;
};

static struct work *at_work; // one batch at a time: `show` of a progress has no context

// What all disks have done so far.
static void show_all(const struct progress *one) {
	const struct erase_batch *batch = ((const struct erase_job *)(const void *)one)->batch;

	pthread_mutex_lock(&at_work->lock);
	at_work->all.done = at_work->all.total = 0;
	for (size_t i = 0; i < batch->count; i++) {
		at_work->all.done += __atomic_load_n(&batch->jobs[i].progress.done, __ATOMIC_RELAXED);
		at_work->all.total += __atomic_load_n(&batch->jobs[i].progress.total, __ATOMIC_RELAXED);
	}
	at_work->all.rate = 0;
	for (size_t i = 0; i < batch->count; i++)
		at_work->all.rate += __atomic_load_n(&batch->jobs[i].progress.rate, __ATOMIC_RELAXED);
	batch->show(&at_work->all);
	pthread_mutex_unlock(&at_work->lock);
}

static void *erase_next(void *context) {
	struct work *work = context;
	uint32_t from, to;

	while (crew_take(&work->crew, 1, &from, &to)) {
		struct erase_job *job = &work->batch->jobs[from];
		if (erase_level_is_command(job->erase.level, job->erase.by)) {
			if (job->leader == from)
				purge_drive(work->batch, from);
			continue;
		}
		if (job->result == ERASED)
			purge_unlock(work->batch, job);
		if (job->result == ERASED && erase_disk(&job->device, &job->erase, &job->progress, &job->fault) < 0)
			job->result = ERASE_FAILED;
		__atomic_store_n(&job->progress.rate, 0, __ATOMIC_RELAXED);
	}
	return NULL;
}

// Before any thread changes a result.
static void find_leaders(struct erase_batch *batch) {
	for (size_t i = 0; i < batch->count; i++) {
		struct erase_job *job = &batch->jobs[i];
		job->leader = job->result == ERASED ? i : SIZE_MAX;
		for (size_t k = 0; job->leader == i && job->disk.drive[0] && k < i; k++)
			if (batch->jobs[k].leader == k && !strcmp(batch->jobs[k].disk.drive, job->disk.drive))
				job->leader = k;
	}
}

int batch_erase(struct erase_batch *batch, struct fault *fault) {
	struct work work = {
		.crew = CREW_INIT((uint32_t)batch->count), .batch = batch, .lock = PTHREAD_MUTEX_INITIALIZER};
	unsigned threads = batch->count < CREW_MAX ? (unsigned)batch->count : CREW_MAX;

	at_work = &work;
	find_leaders(batch);
	for (size_t i = 0; i < batch->count; i++) {
		batch->jobs[i].batch = batch;
		batch->jobs[i].erase.parallel = threads;
		batch->jobs[i].progress.show = batch->show ? show_all : NULL;
		if (batch->jobs[i].result == ERASED)
			batch->jobs[i].progress.total = batch->jobs[i].device.bytes;
	}
	return crew_run(&work.crew, threads, erase_next, &work, fault);
}

static bool is_worse(enum exit_code code, enum exit_code than) {
	static const unsigned char rank[] = {[CODE_DONE] = 0,	[CODE_USAGE] = 1,  [CODE_UNSUPPORTED] = 3,
					     [CODE_DISK] = 2,	[CODE_FAILED] = 4, [CODE_INTEGRITY] = 5,
					     [CODE_NETWORK] = 1};
	return rank[code] > rank[than];
}

enum exit_code batch_code(const struct erase_batch *batch) {
	enum exit_code worst = CODE_DONE;
	bool touched = false;

	for (size_t i = 0; i < batch->count; i++) {
		const struct erase_job *job = &batch->jobs[i];
		if (job->result == ERASE_FAILED && is_worse(job->fault.code, worst))
			worst = job->fault.code;
		touched |= job->result == ERASED || (job->result == ERASE_FAILED && job->fault.code != CODE_DISK);
	}
	return worst == CODE_DISK && touched ? CODE_FAILED : worst;
}

static void describe(const struct erase_batch *batch, enum erase_result result, const char *head, struct text *text) {
	for (size_t i = 0; i < batch->count; i++) {
		const struct erase_job *job = &batch->jobs[i];
		if (job->result != result)
			continue;
		text_addf(text, "%s%s (%.160s)", head, job->disk.name, job->fault.text);
		head = ", ";
	}
}

void batch_describe(const struct erase_batch *batch, enum erase_level level, struct text *text) {
	size_t good = 0;

	for (size_t i = 0; i < batch->count; i++)
		good += batch->jobs[i].result == ERASED;
	text_addf(text, "%s: %zu disk%s", erase_level_name(level), good, good == 1 ? "" : "s");
	describe(batch, ERASE_FAILED, "; failed: ", text);
	describe(batch, ERASE_LEFT_OUT, "; left out: ", text);
}

void batch_free(struct erase_batch *batch) {
	for (size_t i = 0; i < batch->count; i++)
		device_close(&batch->jobs[i].device);
	free(batch->jobs);
	*batch = (struct erase_batch){0};
}
