// SPDX-License-Identifier: Apache-2.0
// contract/vectors/disk/choose, which Go reads too; and disks that come and go between the steps of a plan.
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "base/operand.h"
#include "disk/choose.h"
#include "disk/scan.h"
#include "disk/several.h"
#include "disk/transport.h"
#include "tap.h"

#define TABLE_MAX 16u

static struct disk table[TABLE_MAX];
static struct disks disks = {.items = table};
static char name[256]; // of the table
static unsigned cases;

static void take(char *ret, size_t size, const struct operands *line, const char *key) {
	snprintf(ret, size, "%s", operands_get_or(line, key, ""));
}

static bool is_one(const struct operands *line, const char *key) {
	return !strcmp(operands_get_or(line, key, ""), "1");
}

// udev's older name of an ATA disk that is not behind a port multiplier.
static void shorten(struct disk *disk) {
	const char *ata = strstr(disk->path, "-ata-"), *dot = ata ? strchr(ata, '.') : NULL;

	if (dot)
		memcpy(disk->path_short, disk->path, (size_t)(dot - disk->path));
}

static void add_disk(const struct operands *line) {
	struct disk *disk = &table[disks.count++];

	*disk = (struct disk){0};
	take(disk->name, sizeof(disk->name), line, "name");
	take(disk->serial, sizeof(disk->serial), line, "serial");
	take(disk->wwn, sizeof(disk->wwn), line, "wwn");
	take(disk->path, sizeof(disk->path), line, "path");
	take(disk->model, sizeof(disk->model), line, "model");
	take(disk->vendor, sizeof(disk->vendor), line, "vendor");
	take(disk->transport, sizeof(disk->transport), line, "transport");
	take(disk->sets, sizeof(disk->sets), line, "set");
	(void)number_parse(operands_get_or(line, "bytes", ""), NUMBER_MAX, &disk->bytes);
	disk->rotational = is_one(line, "rotational");
	disk->removable = is_one(line, "removable");
	disk->readonly = is_one(line, "readonly");
	snprintf(disk->foreign, sizeof(disk->foreign), "%s", transport_foreign(disk->transport));
	shorten(disk);
	scan_exclude(disk, false);
}

// The word of the contract for a refusal.
static const char *kind_of(const struct fault *fault) {
	static const struct {
		const char *words, *kind;
	} kinds[] = {
		{"keep ", "keep"},	     {": no disk matches", "none"},
		{" disks match", "several"}, {" on the keep list", "kept"},
		{" read-only", "readonly"},  {" is a member of the set ", "set"},
	};

	if (fault->code == CODE_USAGE)
		return "syntax";
	if (!strncmp(fault->text, kinds[0].words, 5))
		return kinds[0].kind;
	for (size_t i = 1; i < ELEMENTS(kinds); i++)
		if (fault->code == CODE_DISK && strstr(fault->text, kinds[i].words))
			return kinds[i].kind;
	return fault->text;
}

// What the choice results in, for a step that writes the disk: its name, or the kind of the refusal.
static const char *outcome(const char *selector, const char *keep) {
	static struct fault fault;
	const struct disk *disk = NULL;

	if (choose_disk(&disks, selector, keep, &disk, &fault) < 0 || choose_whole(&disks, &disk, 1, &fault) < 0)
		return kind_of(&fault);
	return disk->name;
}

// The names of the disks that a wipe takes, or the kind of the refusal.
static const char *outcome_of_wipe(const char *selectors, const char *keep) {
	static struct several several;
	static struct fault fault;
	static char names[TABLE_MAX * sizeof(table[0].name)];

	if (several_choose(&disks, selectors, keep, &several, &fault) < 0)
		return kind_of(&fault);
	*names = 0;
	for (size_t i = 0; i < several.count; i++)
		if (!several.items[i].left[0])
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", *names ? "," : "",
				 several.items[i].disk->name);
	return names;
}

static void check_case(const struct operands *line) {
	const char *selector = operands_get(line, "select"), *keep = operands_get(line, "keep");
	const char *wanted = operands_get(line, "disk"), *pin = operands_get_or(line, "pin", "");
	const char *several = operands_get(line, "disks");

	cases++;
	if (several) {
		wanted = operands_get(line, "take");
		same(outcome_of_wipe(several, keep), wanted ? wanted : operands_get_or(line, "refuse", "?"),
		     "%s: wipe of %s keep %s", name, several, keep ? keep : "-");
		return;
	}
	same(outcome(selector, keep), wanted ? wanted : operands_get_or(line, "refuse", "?"), "%s: %s keep %s", name,
	     selector, keep ? keep : "-");
	if (*pin)
		same(outcome(pin, keep), wanted, "%s: %s is pinned as %s", name, selector, pin);
}

static void read_line(char *line) {
	struct operands operands = {0};
	struct fault fault = {0};

	line[strcspn(line, "\n")] = 0;
	if (!*line || *line == '#')
		return;
	if (!strncmp(line, "table ", 6)) {
		snprintf(name, sizeof(name), "%s", line + 6);
		disks.count = 0;
		return;
	}
	if (operands_parse(line, strlen(line), &operands, &fault) < 0)
		ok(false, "%s: %s", line, fault.text);
	else if (!strcmp(operands.verb, "disk") && disks.count < TABLE_MAX)
		add_disk(&operands);
	else if (!strcmp(operands.verb, "case"))
		check_case(&operands);
	else
		ok(false, "unknown line %s", line);
	operands_free(&operands);
}

static void test_vectors(void) {
	cleanup_free char *path = NULL, *line = NULL;
	cleanup_file FILE *file = NULL;
	size_t room = 0;

	if (asprintf(&path, "%s/disk/choose", getenv("SLED_VECTORS")) < 0 || !(file = fopen(path, "re"))) {
		ok(false, "the vectors can be read");
		return;
	}
	while (getline(&line, &room, file) > 0)
		read_line(line);
	ok(cases >= 80, "%u vectors", cases);
}

// Each step of a pinned plan takes the disk that was meant, or none, whatever comes, goes and is renamed between them.
static void test_orders(void) {
	static const char *const pins[] = {"wwn:eui.0000000000000000", "serial:SERIAL0", "path:PATH0"};
	unsigned taken = 0, other = 0;

	for (unsigned seed = 1; seed <= 50; seed++) {
		srandom(seed);
		for (unsigned step = 0; step < 5; step++) {
			disks.count = 0;
			for (unsigned slot = 0; slot < 6; slot++) {
				unsigned number = (unsigned)random() % 6;
				struct disk *disk = &table[disks.count];
				bool there = random() % 3;
				for (size_t i = 0; i < disks.count; i++)
					there = there && table[i].serial[6] != (char)('0' + number);
				if (!there)
					continue;
				*disk = (struct disk){.bytes = 1000 + number};
				snprintf(disk->name, sizeof(disk->name), "nvme%zun1", disks.count++);
				snprintf(disk->serial, sizeof(disk->serial), "SERIAL%u", number);
				snprintf(disk->wwn, sizeof(disk->wwn), "eui.%016u", number);
				snprintf(disk->path, sizeof(disk->path), "PATH%u", number);
				snprintf(disk->transport, sizeof(disk->transport), "%s", number % 2 ? "usb" : "nvme");
			}
			for (size_t i = 0; i < ELEMENTS(pins); i++) {
				const struct disk *disk = NULL;
				struct fault fault;
				if (choose_disk(&disks, pins[i], NULL, &disk, &fault) < 0)
					continue;
				taken++;
				other += strcmp(disk->serial, "SERIAL0") != 0;
			}
		}
	}
	ok(taken > 0, "the disk that was meant was taken %u times", taken);
	ok(other == 0, "another disk was taken %u times", other);
}

int main(void) {
	test_vectors();
	test_orders();
	return tap_done();
}
