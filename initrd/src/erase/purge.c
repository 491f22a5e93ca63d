// SPDX-License-Identifier: Apache-2.0
#include "erase/purge.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "drive/ata_security.h"
#include "drive/method.h"
#include "drive/opal.h"
#include "erase/erase.h"
#include "erase/snapshot.h"

static const struct drive_family *const families[] = {&drive_nvme, &drive_scsi, &drive_ata, &drive_mmc};

struct member {
	struct erase_job *job;
	struct drive drive;
	struct snapshot snapshot;
};

struct group {
	struct erase_batch *batch;
	size_t leader, count;
	struct member *members; // the leader first
	struct offers offers;
	enum erase_method settled; // what an earlier boot had started; METHOD_AUTO: nothing
};

static void fail(struct member *member, const struct fault *fault) {
	if (member->job->result != ERASED)
		return;
	member->job->result = ERASE_FAILED;
	member->job->fault = *fault;
}

static void fail_all(struct group *g, const struct fault *fault) {
	for (size_t i = 0; i < g->count; i++)
		fail(&g->members[i], fault);
}

static void tick(struct drive *drive, uint32_t part) {
	struct group *g = drive->owner;

	for (size_t i = 0; i < g->count; i++) {
		struct erase_job *job = g->members[i].job;
		progress_tick(&job->progress, job->device.bytes / SANITIZE_WHOLE * part);
	}
}

static int collect(struct group *g, struct fault *fault) {
	struct erase_job *jobs = g->batch->jobs;

	for (size_t i = 0; i < g->batch->count; i++)
		g->count += jobs[i].leader == g->leader;
	g->members = calloc(g->count, sizeof(*g->members));
	if (!g->members) {
		for (size_t i = 0; i < g->batch->count; i++)
			if (jobs[i].leader == g->leader)
				jobs[i].result = ERASE_FAILED,
				fault_errno(&jobs[i].fault, CODE_FAILED, ENOMEM, "purge");
		return fault_errno(fault, CODE_FAILED, ENOMEM, "purge");
	}
	for (size_t i = 0, n = 0; i < g->batch->count; i++)
		if (jobs[i].leader == g->leader)
			g->members[n++] = (struct member){.job = &jobs[i],
							  .drive = {.ops = g->batch->drive_ops,
								    .device = &jobs[i].device,
								    .context = jobs[i].drive_context,
								    .serial = jobs[i].disk.serial,
								    .psids = g->batch->psids,
								    .tick = tick,
								    .owner = g}};
	return 0;
}

static int probe_one(struct member *member, struct offers *offers, struct fault *fault) {
	struct drive *drive = &member->drive;

	for (unsigned i = 0; drive->ops && i < ELEMENTS(families); i++) {
		int r = families[i]->probe(drive, offers, fault);
		drive->family = families[i];
		if (r == 0)
			opal_offer(drive, offers);
		if (r <= 0)
			return r;
	}
	return fault_set(fault, CODE_UNSUPPORTED, "%s offers no command that erases it; nothing was touched",
			 drive->device->name);
}

// A machine may have drives of several kinds. In a purge, a method that is named is for those of its kind, and the
// others take auto.
static void take_own_method(struct member *member) {
	struct erase *erase = &member->job->erase;
	const char *kind = member->drive.family->kind;
	bool is_own = erase->by == METHOD_OPAL_PSID_REVERT ? opal_is(&member->drive)
							   : strncmp(method_name(erase->by), kind, strlen(kind)) == 0;

	if (erase->level == ERASE_PURGE && !is_own)
		erase->by = METHOD_AUTO;
}

static int probe_all(struct group *g, struct fault *fault) {
	struct offers ignored;
	int r = 0;

	for (size_t i = 0; r == 0 && i < g->count; i++)
		r = probe_one(&g->members[i], i == 0 ? &g->offers : &ignored, fault);
	for (size_t i = 0; r == 0 && i < g->count; i++)
		take_own_method(&g->members[i]);
	return r;
}

static bool has_unit(const struct group *g, uint32_t unit) {
	for (size_t i = 0; i < g->count; i++)
		if (g->members[i].drive.unit == unit)
			return true;
	return false;
}

// Disks of the drive that are known, but not to be erased, with the reason.
static void name_others(const struct group *g, char *text, size_t size) {
	const char *drive = g->members[0].job->disk.drive;
	size_t used = strlen(text);

	for (size_t i = 0; i < g->batch->count; i++) {
		const struct erase_job *job = &g->batch->jobs[i];
		if (job->leader == g->leader || !*drive || strcmp(job->disk.drive, drive) != 0 || used >= size)
			continue;
		used += (size_t)snprintf(text + used, size - used, " (%s: %.80s)", job->disk.name, job->fault.text);
	}
}

static bool is_same_drive(const struct nvme_controller *a, const struct nvme_controller *b) {
	return !strcmp(a->serial, b->serial) && !strcmp(a->model, b->model) && !strcmp(a->nqn, b->nqn);
}

// What a command for the whole drive reaches, though it is not to be erased in this step. False: nothing.
static bool find_outside(const struct group *g, char *text, size_t size) {
	for (size_t i = 0; i < g->count; i++) {
		const struct drive *drive = &g->members[i].drive;
		bool lists_itself = drive->unit == 0; // its commands reach one disk only
		if (drive->unknown[0] || !is_same_drive(&drive->nvme, &g->members[0].drive.nvme)) {
			snprintf(text, size, "%s", drive->unknown[0] ? drive->unknown : "it is not one drive");
			return true;
		}
		for (unsigned k = 0; k < drive->reach_count; k++) {
			lists_itself |= drive->reach[k] == drive->unit;
			if (has_unit(g, drive->reach[k]))
				continue;
			snprintf(text, size, "namespace %u is not erased in this step", drive->reach[k]);
			name_others(g, text, size);
			return true;
		}
		if (!lists_itself) {
			snprintf(text, size, "the drive does not list namespace %u, which it has", drive->unit);
			return true;
		}
	}
	return false;
}

// A Format of all namespaces would give the others the block format of the first.
static bool is_one_format(const struct group *g) {
	const struct nvme_namespace *a = &g->members[0].drive.nvme_as;

	for (size_t i = 1; i < g->count; i++) {
		const struct nvme_namespace *b = &g->members[i].drive.nvme_as;
		if (a->format != b->format || a->extended != b->extended || a->protection != b->protection ||
		    a->first != b->first)
			return false;
	}
	return true;
}

static bool is_proven_by_reading(const struct group *g, enum erase_method method) {
	if (g->settled == METHOD_AUTO || g->settled != method)
		return false;
	for (size_t i = 0; i < g->count; i++)
		if (!g->members[i].snapshot.uniform)
			return false;
	return true;
}

static void note(struct member *member, const struct drive *drive, const struct offer *offer) {
	member->job->erase.method = method_name(offer->method);
	memcpy(member->job->erase.reported, drive->reported, REPORTED_MAX);
}

static int run_offer(struct drive *drive, const struct offer *offer, struct fault *fault) {
	return offer->method == METHOD_OPAL_PSID_REVERT ? opal_revert(drive, fault)
							: drive->family->run(drive, offer, fault);
}

// One command for all. What it reaches is read once more first: a namespace may have been made since.
static int run_whole(struct group *g, const struct offer *offer, struct fault *fault) {
	struct drive *drive = &g->members[0].drive;
	struct offers ignored;
	char outside[256];
	int r = 0;

	if (!is_proven_by_reading(g, offer->method)) {
		r = probe_one(&g->members[0], &ignored, fault);
		if (r == 0 && find_outside(g, outside, sizeof(outside)))
			r = fault_set(fault, CODE_DISK, "%s would also erase what is not to be erased: %s",
				      method_name(offer->method), outside);
		if (r == 0)
			r = run_offer(drive, offer, fault);
	}
	for (size_t i = 0; (r == 0 || fault->code == CODE_FAILED) && i < g->count; i++)
		note(&g->members[i], drive, offer);
	return r;
}

// Takes one command after another until the drive does not refuse it.
static int run_one(struct member *member, struct offers offers, enum erase_method requested, struct fault *fault) {
	struct offer offer;

	for (;;) {
		int r = offers_choose(&offers, requested, NULL, &offer, fault);
		if (r == 0 && (r = run_offer(&member->drive, &offer, fault)) == 0)
			return note(member, &member->drive, &offer), 0;
		if (r < 0 && fault->code == CODE_FAILED)
			note(member, &member->drive, &offer);
		if (fault->code != CODE_UNSUPPORTED || requested != METHOD_AUTO || offers.count == 0)
			return r;
		snprintf(offers.note, sizeof(offers.note), "%.150s", fault->text);
		offers_remove(&offers, offer.method);
	}
}

static void run_each(struct group *g, enum erase_method requested) {
	struct offers own = {0};
	struct fault fault;

	for (unsigned i = 0; i < g->offers.count; i++)
		if (!g->offers.items[i].whole)
			own.items[own.count++] = g->offers.items[i];
	for (size_t i = 0; i < g->count; i++)
		if (g->members[i].job->result == ERASED && run_one(&g->members[i], own, requested, &fault) < 0)
			fail(&g->members[i], &fault);
}

static int run_group(struct group *g, struct fault *fault) {
	enum erase_method requested = g->members[0].job->erase.by;
	char text[256];
	const char *outside = find_outside(g, text, sizeof(text)) ? text : NULL;
	struct offer offer;
	int r;

	if (!is_one_format(g))
		for (unsigned i = 0; i < g->offers.count; i++)
			if (g->offers.items[i].whole && !g->offers.items[i].is_sanitize)
				offers_remove(&g->offers, g->offers.items[i--].method);
	for (;;) {
		if ((r = offers_choose(&g->offers, requested, outside, &offer, fault)) < 0)
			return r;
		if (!offer.whole)
			return run_each(g, requested), 0;
		r = run_whole(g, &offer, fault);
		if (r == 0 || fault->code != CODE_UNSUPPORTED || requested != METHOD_AUTO)
			return r;
		snprintf(g->offers.note, sizeof(g->offers.note), "%.150s", fault->text);
		offers_remove(&g->offers, offer.method);
	}
}

static void verify(struct member *member) {
	struct erase_job *job = member->job;
	struct fault fault;
	uint64_t offset;
	int r;

	if (job->result != ERASED)
		return;
	r = snapshot_compare(&member->snapshot, &job->erase, &job->progress, &offset, &fault);
	if (r > 0)
		r = fault_set(&fault, CODE_INTEGRITY,
			      "%s: the block at byte %llu was not erased, though the drive reports success (%s)",
			      job->device.name, (unsigned long long)offset, job->erase.method);
	if (r == 0)
		r = erase_judge_bad(&job->device, &job->erase, &fault);
	if (r < 0)
		fail(member, &fault);
	else
		progress_end(&job->progress);
}

static int work(struct group *g, struct fault *fault) {
	struct offer offer;
	char text[256];
	int r = probe_all(g, fault);

	// What cannot be done is refused before anything is read, or a sanitize of an earlier boot is waited for.
	if (r == 0)
		r = offers_choose(&g->offers, g->members[0].job->erase.by,
				  find_outside(g, text, sizeof(text)) ? text : NULL, &offer, fault);
	if (r == 0)
		r = g->members[0].drive.family->settle(&g->members[0].drive, &g->settled, fault);
	for (size_t i = 0; r == 0 && i < g->count; i++)
		r = snapshot_take(&g->members[i].job->device, &g->members[i].snapshot, fault);
	return r == 0 ? run_group(g, fault) : r;
}

void purge_drive(struct erase_batch *batch, size_t leader) {
	struct group g = {.batch = batch, .leader = leader};
	int64_t started = clock_now();
	struct fault fault;

	if (collect(&g, &fault) < 0)
		return;
	for (size_t i = 0; i < g.count; i++)
		progress_begin(&g.members[i].job->progress, g.members[i].job->device.bytes);
	if (work(&g, &fault) < 0)
		fail_all(&g, &fault);
	for (size_t i = 0; i < g.count; i++) {
		struct erase_job *job = g.members[i].job;
		verify(&g.members[i]);
		job->erase.seconds = (double)(clock_now() - started) / SECOND;
		device_reread(&job->device);
		snapshot_free(&g.members[i].snapshot);
	}
	free(g.members);
}

void purge_unlock(struct erase_batch *batch, struct erase_job *job) {
	struct drive drive = {.ops = batch->drive_ops, .device = &job->device, .context = job->drive_context};

	if (drive.ops)
		ata_unlock(&drive);
}
