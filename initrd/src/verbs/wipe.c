// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "disk/choose.h"
#include "disk/contents.h"
#include "disk/scan.h"
#include "disk/seam.h"
#include "disk/several.h"
#include "disk/stamp.h"
#include "drive/method.h"
#include "drive/psids.h"
#include "erase/batch.h"
#include "erase/level.h"
#include "verbs/verbs.h"

#define PSIDS_MAX 65536u // bytes of the file

static int make_jobs(struct erase_batch *batch, size_t count, struct fault *fault) {
	batch->jobs = calloc(count, sizeof(*batch->jobs));
	if (!batch->jobs)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "wipe");
	batch->count = count;
	for (size_t i = 0; i < count; i++)
		batch->jobs[i].device.fd = -1;
	return 0;
}

static void open_job(const struct disks *disks, struct erase_job *job, const char *left, const char *unfit) {
	if (*left) {
		job->result = ERASE_LEFT_OUT;
		fault_set(&job->fault, CODE_DISK, "%s", left);
	} else if (*unfit) {
		job->result = ERASE_FAILED;
		fault_set(&job->fault, CODE_DISK, "%s", unfit);
	} else if (device_open_disk(disks, &job->disk, &job->device, &job->fault) < 0)
		job->result = ERASE_FAILED;
}

static int open_seams(struct erase_batch *batch, struct fault *fault) {
	int r = make_jobs(batch, seam_count(), fault);

	for (unsigned i = 0; r == 0 && i < batch->count; i++) {
		struct erase_job *job = &batch->jobs[i];
		(void)seam_open_at(i, &job->device);
		snprintf(job->disk.name, sizeof(job->disk.name), "%s", job->device.name);
		job->disk.bytes = job->device.bytes;
		job->disk.sector = job->device.sector;
	}
	return r;
}

// Opens each disk, exclusively, before any is touched.
static int open_all(const char *selectors, const char *keep, struct erase_batch *batch, struct text *list,
		    struct fault *fault) {
	cleanup_with(disks_free) struct disks disks = {0};
	cleanup_free struct several *several = calloc(1, sizeof(*several));
	struct fault ignored;
	int r = several ? scan_disks(seam_root(), &disks, fault) : fault_errno(fault, CODE_FAILED, ENOMEM, "wipe");

	if (r == 0)
		r = contents_read(seam_root(), &disks, fault);
	if (r == 0 && (r = several_choose(&disks, selectors, keep, several, fault)) < 0)
		(void)choose_list(&disks, NULL, keep, list, &ignored);
	if (r == 0)
		r = make_jobs(batch, several->count, fault);
	for (size_t i = 0; r == 0 && i < batch->count; i++) {
		batch->jobs[i].disk = *several->items[i].disk;
		batch->jobs[i].disk.parts = NULL; // it goes with the list
		open_job(&disks, &batch->jobs[i], several->items[i].left, several->items[i].unfit);
	}
	return r;
}

// One disk that is ahead of the plan keeps all of them.
static int admit_all(struct erase_batch *batch, const char *known, struct fault *fault) {
	int r = 0;

	for (size_t i = 0; r == 0 && i < batch->count; i++)
		if (batch->jobs[i].result == ERASED)
			r = stamp_admit(&batch->jobs[i].device, known, fault);
	return r;
}

// PSIDs reach a node by a site hook (docs/disks.md), never in a plan. A file that cannot be read is not "no PSIDs".
static int read_psids(char **ret, struct fault *fault) {
	char path[PATH_MAX];
	size_t size;
	int r;

	snprintf(path, sizeof(path), "%s/run/sled/psids", seam_root());
	r = file_read(path, PSIDS_MAX, ret, &size);
	if (r == -ENOENT)
		return 0;
	return r < 0 ? fault_errno(fault, CODE_FAILED, r, "%s", path) : psids_check(*ret, fault);
}

static void free_secret(char *text) {
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

// One line for each disk, for the record of sledd, and the whole in one sentence.
static void print_records(const struct erase_batch *batch, enum erase_level level) {
	cleanup_with(text_free) struct text text = {0}, whole = {0};

	for (size_t i = 0; i < batch->count; i++) {
		const struct erase_job *job = &batch->jobs[i];
		record_write(&job->disk, &job->erase, job->result, job->fault.text, &text);
		text_adds(&text, "\n");
	}
	batch_describe(batch, level, &whole);
	printf("%sdetail %s\n", text_string(&text), text_string(&whole));
	fflush(stdout);
	if (batch_code(batch) != CODE_DONE)
		fprintf(stderr, "wipe: %s\n", text_string(&whole));
}

enum exit_code verb_wipe(const struct operands *operands) {
	cleanup_with(batch_free) struct erase_batch batch = {.show = console_progress, .drive_ops = &drive_kernel};
	cleanup_with(text_free) struct text list = {0};
	const char *selectors = operands_get(operands, "disks"), *keep = operands_get(operands, "keep"),
		   *known = operands_get(operands, "known");
	bool full = !strcmp(operands_get_or(operands, "verify", "sample"), "full");
	enum erase_level level = ERASE_EMPTY;
	enum erase_method method = METHOD_AUTO;
	char *psids = NULL;
	struct fault fault;
	int r;

	if (erase_level_parse(operands_get_or(operands, "level", "empty"), &level) < 0 ||
	    method_parse(operands_get_or(operands, "method", "auto"), &method) < 0)
		return CODE_USAGE; // not with the checks of operands
	if (erase_level_check(level, method, &fault) < 0)
		return fault_print(&fault, "wipe");
	if (method == METHOD_OPAL_PSID_REVERT && read_psids(&psids, &fault) < 0)
		return free_secret(psids), fault_print(&fault, "wipe");
	batch.psids = psids;
	r = seam_count() > 0 ? open_seams(&batch, &fault) : open_all(selectors, keep, &batch, &list, &fault);
	if (r == 0)
		r = admit_all(&batch, known, &fault);
	for (size_t i = 0; r == 0 && i < batch.count; i++) {
		batch.jobs[i].erase.level = level;
		batch.jobs[i].erase.by = method;
		batch.jobs[i].erase.full = full;
	}
	if (r == 0)
		r = batch_erase(&batch, &fault);
	free_secret(psids);
	if (r < 0) {
		fputs(text_string(&list), stderr);
		return fault_print(&fault, "wipe");
	}
	print_records(&batch, level);
	return batch_code(&batch);
}
