// SPDX-License-Identifier: Apache-2.0
#include "erase/record.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/operand.h"
#include "erase/level.h"

#define IDENTITY_MAX 160 // bytes of a value before it is encoded; sledd takes 256
#define REASON_MAX 240

static void write_value(struct text *text, const char *key, const char *value, int most) {
	char cut[256];

	snprintf(cut, sizeof(cut), "%.*s", most, value);
	for (char *c = cut; *c; c++) // what sledd would refuse, with the whole report
		if (*c < ' ' || *c > '~')
			*c = '?';
	operand_write(text, key, cut);
}

static void write_seed(struct text *text, const uint8_t seed[SEED]) {
	text_adds(text, " seed=");
	for (unsigned i = 0; i < SEED; i++)
		text_addf(text, "%02x", seed[i]);
}

static void write_course(const struct erase *erase, struct text *text) {
	text_addf(text, " level=%s method=%s verify=%s read=%" PRIu64 " seconds=%.3f", erase_level_name(erase->level),
		  erase->method ? erase->method : "none", erase->samples ? "sample" : "full", erase->read,
		  erase->seconds);
	if (erase->samples) {
		text_addf(text, " samples=%" PRIu64, erase->samples);
		write_seed(text, erase->seed);
	}
	if (erase->reported[0]) {
		write_value(text, "reported", erase->reported, IDENTITY_MAX);
		text_addf(text, " compared=%" PRIu64, erase->compared);
	}
	if (erase->bad.count > 0)
		text_addf(text, " bad_ranges=%u bad_bytes=%" PRIu64, erase->bad.count, erase->bad.bytes);
}

void record_write(const struct disk *disk, const struct erase *erase, enum erase_result result, const char *reason,
		  struct text *text) {
	static const char *const results[] = {"good", "failed", "left"};
	size_t start = text->size;

	text_addf(text, "erasure result=%s", results[result]);
	write_value(text, "disk", disk->name, IDENTITY_MAX);
	write_value(text, "serial", disk->serial, IDENTITY_MAX);
	write_value(text, "wwn", disk->wwn, IDENTITY_MAX);
	write_value(text, "path", disk->path, IDENTITY_MAX);
	write_value(text, "model", disk->model, IDENTITY_MAX);
	text_addf(text, " bytes=%" PRIu64 " sector=%u", disk->bytes, disk->sector);
	if (result != ERASE_LEFT_OUT)
		write_course(erase, text);
	if (result != ERASED)
		write_value(text, "reason", reason, REASON_MAX);
	if (erase->bad.count > 0 && text->size - start < RECORD_MAX - 64) {
		text_adds(text, " bad=");
		bad_ranges_write(&erase->bad, RECORD_MAX - 8 - (text->size - start), text);
	}
}
