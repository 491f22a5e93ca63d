// SPDX-License-Identifier: Apache-2.0
// SCSI drives, also those behind SAS controllers: SANITIZE (SBC-4 5.30), followed by REQUEST SENSE (SPC-5 6.39).
#include <errno.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "drive/drive.h"
#include "drive/scsi.h"

#define SECONDS_QUERY 60u
#define PAGE 256u // bytes of an answer

enum { CHECK_CONDITION = 0x02, RESERVATION_CONFLICT = 0x18 };
enum { ILLEGAL_REQUEST = 0x5, DATA_PROTECT = 0x7 };

static const struct {
	enum erase_method method;
	enum scsi_sanitize_action action;
} actions[] = {
	{METHOD_SCSI_SANITIZE_CRYPTO, SCSI_SANITIZE_CRYPTO},
	{METHOD_SCSI_SANITIZE_BLOCK, SCSI_SANITIZE_BLOCK},
	{METHOD_SCSI_SANITIZE_OVERWRITE, SCSI_SANITIZE_OVERWRITE},
};

static int explain(struct drive *drive, const char *what, int status, const struct scsi_sense *sense,
		   struct fault *fault) {
	bool refused = status == CHECK_CONDITION && (sense->key == ILLEGAL_REQUEST || sense->key == DATA_PROTECT);

	if (status == RESERVATION_CONFLICT)
		return fault_set(fault, CODE_DISK, "%s: another machine has reserved the drive", drive->device->name);
	return fault_set(fault, refused ? CODE_UNSUPPORTED : CODE_FAILED,
			 "%s: the drive answers %s with status 0x%02x, sense key 0x%x, code 0x%02x/0x%02x%s",
			 drive->device->name, what, (unsigned)status, sense->key, sense->code, sense->qualifier,
			 sense->key == DATA_PROTECT	 ? ": it is write protected or locked"
			 : sense->key == ILLEGAL_REQUEST ? ": it does not know the command"
							 : "");
}

static int submit(struct drive *drive, const char *what, const struct scsi_command *command, void *data, int size,
		  struct fault *fault) {
	struct scsi_sense sense = {0};
	uint8_t raw[SCSI_SENSE] = {0};
	int r = drive->ops->scsi(drive, command, data, size, raw, SECONDS_QUERY);

	if (r == 0)
		return 0;
	if (r < 0)
		return fault_errno(fault, CODE_FAILED, r, "%s: %s", drive->device->name, what);
	(void)scsi_sense_decode(raw, sizeof(raw), &sense);
	return explain(drive, what, r, &sense, fault);
}

// Whether the drive has one action of SANITIZE. A drive that cannot answer has none.
static void ask(struct drive *drive, unsigned i, struct offers *offers) {
	struct scsi_command command;
	uint8_t data[PAGE] = {0};
	struct fault fault;
	bool supported;
	uint32_t seconds;

	scsi_report_sanitize(actions[i].action, sizeof(data), &command);
	if (submit(drive, "REPORT SUPPORTED OPERATION CODES", &command, data, sizeof(data), &fault) < 0 ||
	    scsi_report_decode(data, sizeof(data), &supported, &seconds) < 0 || !supported)
		return;
	offers_add(offers, actions[i].method, false, true, seconds ? seconds : SANITIZE_UNKNOWN);
}

static int probe(struct drive *drive, struct offers *offers, struct fault *fault) {
	struct scsi_command command;
	struct scsi_inquiry inquiry;
	uint8_t data[PAGE] = {0};

	scsi_inquiry(&command, 96);
	if (submit(drive, "INQUIRY", &command, data, 96, fault) < 0 || scsi_inquiry_decode(data, 96, &inquiry) < 0 ||
	    !inquiry.is_disk || inquiry.is_ata)
		return 1;
	*offers = (struct offers){0};
	for (unsigned i = 0; i < ELEMENTS(actions); i++)
		ask(drive, i, offers);
	if (offers->count == 0)
		snprintf(offers->note, sizeof(offers->note), "%s %s has no SANITIZE", inquiry.vendor, inquiry.product);
	return 0;
}

static int read_sense(struct drive *drive, struct scsi_sense *ret, struct fault *fault) {
	uint8_t data[SCSI_SENSE] = {0};
	struct scsi_command command;
	int r;

	scsi_request_sense(&command);
	r = submit(drive, "REQUEST SENSE", &command, data, sizeof(data), fault);
	if (r < 0)
		return r;
	if (scsi_sense_decode(data, sizeof(data), ret) < 0)
		return fault_set(fault, CODE_FAILED, "%s: the sense data of the drive is malformed",
				 drive->device->name);
	snprintf(drive->reported, sizeof(drive->reported), "SANITIZE: sense key 0x%x, code 0x%02x/0x%02x", ret->key,
		 ret->code, ret->qualifier);
	return 0;
}

// A unit attention, or a drive that is starting, is no end.
static int poll_sense(struct drive *drive, uint32_t *ret_progress, struct fault *fault) {
	struct scsi_sense sense;
	int r = read_sense(drive, &sense, fault);

	if (r < 0)
		return r;
	*ret_progress = sense.progress;
	drive->failed = scsi_state(&sense) == SCSI_FAILED;
	return drive->failed || scsi_state(&sense) == SCSI_IDLE;
}

// Which command it was is not known, so that another one follows.
static int settle(struct drive *drive, enum erase_method *ret, struct fault *fault) {
	struct scsi_sense sense;

	*ret = METHOD_AUTO;
	if (read_sense(drive, &sense, fault) < 0 || scsi_state(&sense) != SCSI_RUNNING)
		return 0;
	return drive_follow(drive, SANITIZE_UNKNOWN, poll_sense, fault);
}

static int run(struct drive *drive, const struct offer *offer, struct fault *fault) {
	struct scsi_command command;
	uint8_t pattern[SCSI_OVERWRITE];
	unsigned i = 0;
	bool writes;
	int r;

	while (actions[i].method != offer->method)
		i++;
	drive->reported[0] = 0;
	writes = actions[i].action == SCSI_SANITIZE_OVERWRITE;
	scsi_overwrite(pattern);
	scsi_sanitize(actions[i].action, writes ? sizeof(pattern) : 0, &command);
	r = submit(drive, "SANITIZE", &command, writes ? pattern : NULL, writes ? -(int)sizeof(pattern) : 0, fault);
	if (r == 0)
		r = drive_follow(drive, offer->seconds, poll_sense, fault);
	if (r == 0 && drive->failed)
		r = fault_set(fault, CODE_FAILED,
			      "%s: SANITIZE failed (%s); the drive returns no data until another one succeeds",
			      drive->device->name, drive->reported);
	return r;
}

const struct drive_family drive_scsi = {"scsi-", probe, settle, run};
