// SPDX-License-Identifier: Apache-2.0
// The purge of one disk in memory, for the tests of drives that have one.
#pragma once

#include <stdio.h>

#include "erase/batch.h"
#include "drive/erased_disk.h"

static struct memory_disk m;
static struct erase_batch batch;
static struct fault fault;

static void finish(void) {
	free(m.data);
	m.data = NULL;
	batch_free(&batch);
}

static void begin_one(const struct drive_ops *ops, void *drive, enum erase_method by) {
	struct erase_job *job;

	finish();
	batch = (struct erase_batch){.count = 1, .jobs = calloc(1, sizeof(*batch.jobs)), .drive_ops = ops};
	job = &batch.jobs[0];
	job->device = memory_open(&m, UINT64_C(2) << 20, 512);
	fill(&m);
	job->drive_context = drive;
	job->erase = (struct erase){.level = ERASE_PURGE, .by = by};
	snprintf(job->disk.name, sizeof(job->disk.name), "sda");
	snprintf(job->device.name, sizeof(job->device.name), "sda");
}

static enum exit_code run(void) {
	batch.jobs[0].result = ERASED;
	if (batch_erase(&batch, &fault) < 0)
		return CODE_FAILED;
	fault = batch.jobs[0].fault;
	return batch_code(&batch);
}
