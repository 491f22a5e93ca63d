// SPDX-License-Identifier: Apache-2.0
// NVMe drives: Sanitize (NVM Express Base Specification 2.0, 5.24) and Format NVM (5.14).
#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "drive/drive.h"

#define SECONDS_QUERY 60u
#define SECONDS_FORMAT (24u * 3600u) // the drive answers at the end

// Commands that a drive refuses are of code 3: it may take another one.
static bool is_refusal(int status) {
	static const unsigned refusals[] = {0x001, 0x002, 0x00b, 0x015, 0x020, 0x10a, 0x123, 0x286};

	for (unsigned i = 0; i < ELEMENTS(refusals); i++)
		if (((unsigned)status & 0x7ff) == refusals[i])
			return true;
	return false;
}

static int submit(struct drive *drive, const char *what, const uint8_t command[NVME_COMMAND], void *data, uint32_t size,
		  uint32_t seconds, struct fault *fault) {
	char text[96];
	int r = drive->ops->nvme(drive, command, data, size, seconds);

	if (r == 0)
		return 0;
	if (r < 0)
		return fault_errno(fault, CODE_FAILED, r, "%s: %s", drive->device->name, what);
	nvme_status_text((unsigned)r, text, sizeof(text));
	return fault_set(fault, is_refusal(r) ? CODE_UNSUPPORTED : CODE_FAILED, "%s: the drive answers %s with %s",
			 drive->device->name, what, text);
}

static int malformed(struct drive *drive, const char *what, struct fault *fault) {
	return fault_set(fault, CODE_FAILED, "%s: what the drive returns for %s is malformed", drive->device->name,
			 what);
}

static int identify(struct drive *drive, uint32_t nsid, enum nvme_cns cns, uint8_t page[NVME_PAGE],
		    struct fault *fault) {
	uint8_t command[NVME_COMMAND];

	nvme_identify(nsid, cns, command);
	return submit(drive, "Identify", command, page, NVME_PAGE, SECONDS_QUERY, fault);
}

static int read_log(struct drive *drive, struct nvme_sanitize *ret, struct fault *fault) {
	uint8_t command[NVME_COMMAND], log[NVME_LOG] = {0};
	int r;

	nvme_get_sanitize_log(command);
	r = submit(drive, "Get Log Page", command, log, sizeof(log), SECONDS_QUERY, fault);
	if (r < 0)
		return r;
	if (nvme_sanitize_decode(log, sizeof(log), ret) < 0)
		return malformed(drive, "the log of Sanitize", fault);
	snprintf(drive->reported, sizeof(drive->reported), "Sanitize log: status 0x%04x, progress %u, command 0x%08x",
		 ret->status, ret->progress, ret->command);
	return 0;
}

// Adds one list of namespaces to what the drive reaches.
static void read_list(struct drive *drive, enum nvme_cns cns, uint8_t *page) {
	uint32_t list[NVME_LIST_MAX];
	struct fault fault;
	unsigned count = 0;
	int r = identify(drive, 0, cns, page, &fault);

	if (r == 0)
		r = nvme_list_decode(page, NVME_PAGE, list, &count);
	for (unsigned i = 0; i < count; i++)
		drive->reach[drive->reach_count++] = list[i];
	if (r < 0)
		snprintf(drive->unknown, sizeof(drive->unknown), "the drive does not list its %s namespaces",
			 cns == NVME_CNS_ACTIVE ? "active" : "allocated");
}

// Namespaces that are not attached hold data too, and so do those of other controllers.
static void find_reach(struct drive *drive, uint8_t *page) {
	drive->reach_count = 0;
	drive->unknown[0] = 0;
	read_list(drive, NVME_CNS_ACTIVE, page);
	if (drive->nvme.has_allocated)
		read_list(drive, NVME_CNS_ALLOCATED, page);
	else if (drive->nvme.has_others)
		snprintf(drive->unknown, sizeof(drive->unknown),
			 "the drive has several controllers, and does not list the namespaces of all");
}

static void offer(struct drive *drive, const struct nvme_sanitize *log, struct offers *offers) {
	const struct nvme_controller *c = &drive->nvme;

	*offers = (struct offers){0};
	if (log && c->sanitize_crypto)
		offers_add(offers, METHOD_NVME_SANITIZE_CRYPTO, true, true, log->estimate_crypto);
	if (log && c->sanitize_block)
		offers_add(offers, METHOD_NVME_SANITIZE_BLOCK, true, true, log->estimate_block);
	if (log && c->sanitize_overwrite)
		offers_add(offers, METHOD_NVME_SANITIZE_OVERWRITE, true, true, log->estimate_overwrite);
	if (c->has_format && c->format_crypto)
		offers_add(offers, METHOD_NVME_FORMAT_CRYPTO, c->format_all, false, SANITIZE_UNKNOWN);
	if (c->has_format)
		offers_add(offers, METHOD_NVME_FORMAT_USER, c->format_all, false, SANITIZE_UNKNOWN);
}

static int probe(struct drive *drive, struct offers *offers, struct fault *fault) {
	cleanup_free uint8_t *page = device_buffer(NVME_PAGE);
	int64_t nsid = drive->ops->nsid(drive);
	struct nvme_sanitize log;
	bool has_log = false;
	int r;

	if (nsid <= 0)
		return 1;
	if (!page)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "%s", drive->device->name);
	drive->unit = (uint32_t)nsid;
	r = identify(drive, 0, NVME_CNS_CONTROLLER, page, fault);
	if (r == 0 && nvme_controller_decode(page, NVME_PAGE, &drive->nvme) < 0)
		r = malformed(drive, "Identify Controller", fault);
	if (r == 0)
		r = identify(drive, drive->unit, NVME_CNS_NAMESPACE, page, fault);
	if (r == 0 && nvme_namespace_decode(page, NVME_PAGE, &drive->nvme_as) < 0)
		r = malformed(drive, "Identify Namespace", fault);
	if (r < 0)
		return r;
	find_reach(drive, page);
	if (drive->nvme.sanitize_crypto || drive->nvme.sanitize_block || drive->nvme.sanitize_overwrite)
		has_log = read_log(drive, &log, fault) == 0;
	offer(drive, has_log ? &log : NULL, offers);
	if (!has_log)
		snprintf(offers->note, sizeof(offers->note), "it has no Sanitize");
	return 0;
}

// One look at the log: 1: the sanitize has ended, well or not.
static int poll_log(struct drive *drive, uint32_t *ret_progress, struct fault *fault) {
	struct nvme_sanitize log;
	int r = read_log(drive, &log, fault);

	if (r < 0)
		return r;
	*ret_progress = log.progress;
	return log.state != NVME_RUNNING;
}

static uint32_t estimate(const struct nvme_sanitize *log, unsigned action) {
	return action == NVME_SANACT_CRYPTO  ? log->estimate_crypto
	       : action == NVME_SANACT_BLOCK ? log->estimate_block
					     : log->estimate_overwrite;
}

static int settle(struct drive *drive, enum erase_method *ret, struct fault *fault) {
	struct nvme_sanitize log;
	int r;

	*ret = METHOD_AUTO;
	if (read_log(drive, &log, fault) < 0 || log.state != NVME_RUNNING)
		return 0; // without a log there is no Sanitize
	r = drive_follow(drive, estimate(&log, log.action), poll_log, fault);
	if (r == 0)
		r = read_log(drive, &log, fault);
	if (r == 0 && (log.state == NVME_DONE || log.state == NVME_DONE_NO_DEALLOCATE))
		*ret = log.action == NVME_SANACT_BLOCK	     ? METHOD_NVME_SANITIZE_BLOCK
		       : log.action == NVME_SANACT_OVERWRITE ? METHOD_NVME_SANITIZE_OVERWRITE
							     : METHOD_AUTO; // of a crypto erase there is no proof
	return r;
}

static int run_sanitize(struct drive *drive, enum nvme_sanact action, uint32_t seconds, struct fault *fault) {
	uint8_t command[NVME_COMMAND];
	struct nvme_sanitize log;
	int r;

	nvme_sanitize(action, command);
	r = submit(drive, "Sanitize", command, NULL, 0, SECONDS_QUERY, fault);
	if (r == 0)
		r = drive_follow(drive, seconds, poll_log, fault);
	if (r == 0)
		r = read_log(drive, &log, fault);
	if (r < 0)
		return r;
	if (log.state != NVME_DONE && log.state != NVME_DONE_NO_DEALLOCATE)
		return fault_set(fault, CODE_FAILED,
				 "%s: Sanitize failed (%s); the drive returns no data until another one succeeds",
				 drive->device->name, drive->reported);
	if (log.action != (unsigned)action)
		return fault_set(fault, CODE_FAILED, "%s: the drive reports the end of another command (%s)",
				 drive->device->name, drive->reported);
	return 0;
}

static int run_format(struct drive *drive, enum nvme_ses ses, struct fault *fault) {
	uint8_t command[NVME_COMMAND];
	int r;

	nvme_format(drive->unit, &drive->nvme_as, ses, command);
	r = submit(drive, "Format", command, NULL, 0, SECONDS_FORMAT, fault);
	if (r == 0)
		snprintf(drive->reported, sizeof(drive->reported), "Format NVM: status 0x000");
	return r;
}

static int run(struct drive *drive, const struct offer *offer, struct fault *fault) {
	drive->reported[0] = 0;
	switch (offer->method) {
	case METHOD_NVME_SANITIZE_CRYPTO: return run_sanitize(drive, NVME_SANACT_CRYPTO, offer->seconds, fault);
	case METHOD_NVME_SANITIZE_BLOCK: return run_sanitize(drive, NVME_SANACT_BLOCK, offer->seconds, fault);
	case METHOD_NVME_SANITIZE_OVERWRITE: return run_sanitize(drive, NVME_SANACT_OVERWRITE, offer->seconds, fault);
	case METHOD_NVME_FORMAT_CRYPTO: return run_format(drive, NVME_SES_CRYPTO, fault);
	default: return run_format(drive, NVME_SES_USER, fault);
	}
}

const struct drive_family drive_nvme = {"nvme-", probe, settle, run};
