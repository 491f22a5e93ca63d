// SPDX-License-Identifier: Apache-2.0
#include "pack/pack.h"

#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/human.h"
#include "base/number.h"
#include "import/import.h"
#include "verbs/verbs.h"

const struct operand_rule pack_rules[] = {
	{"in", true,
	 "source: a raw, qcow2, vmdk, vhdx, vdi, vpc, imagezip (.ndz) or partclone file, also compressed "
	 "(.gz .xz .zst .bz2 .lz4); a block device; a folder of Clonezilla or FOG",
	 NULL, NULL},
	{"out", true, "image file; an existing one is replaced once the new one is complete", NULL, NULL},
	{"partition", false, "only this partition of the disk: NUMBER, part-label:NAME or part-uuid:UUID", NULL,
	 check_partition},
	{"level", false, "zstd level, 1 to 19 (default 3)", NULL, check_level},
	{"sector", false, "logical sector size of the disk (default: that with which its content is found)", "512|4096",
	 NULL},
	{"gaps", false, "what lies outside of partitions and behind filesystems (default keep)", "keep|drop", NULL},
	{"limit", false, "most bytes of disk that a compressed or foreign file may become (default 4398046511104)",
	 NULL, check_positive},
	{"folder", false, "folder for temporary files (default: that of out=)", NULL, NULL},
	{"json", false, "print one line of JSON at the end, and no progress (default no)", "yes|no", NULL},
	{0},
};

struct request {
	const char *in, *out;
	bool json;
	struct pack_order order;
	struct import_room room;
};

static bool is_same_file(const char *a, const char *b) {
	struct stat x, y;
	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int pack_file(const struct request *request, struct packed *ret, struct progress *progress,
		     struct fault *fault) {
	cleanup_with(sink_close) struct sink *sink = NULL;
	cleanup_with(survey_free) struct survey survey = {0};
	cleanup_close int disk = -1;
	int r;

	if (is_same_file(request->in, request->out))
		return fault_set(fault, CODE_USAGE, "in= and out= are the same file: %s", request->out);
	r = sink_open_file(request->out, &sink, fault);
	if (r == 0)
		r = import_open(request->in, &request->room, &disk, fault);
	if (r == 0)
		r = survey_disk(disk, request->in, &request->order, &survey, fault);
	fputs(text_string(&survey.map.warnings), stderr);
	return r == 0 ? pack_disk(&survey, &request->order, sink, ret, progress, fault) : r;
}

static void print_packed(const struct request *request, const struct packed *packed) {
	char disk[32], used[32], file[32];

	if (request->json)
		printf("{\"digest\":\"%s\",\"bytes\":%" PRIu64 ",\"used_bytes\":%" PRIu64 ",\"file_bytes\":%" PRIu64
		       "}\n",
		       packed->digest, packed->bytes, packed->used, packed->file_bytes);
	else
		printf("%s: %s\n%s, %s of %s, used %s, %.2f:1\n", request->out, packed->digest,
		       human_bytes(packed->file_bytes, file), request->order.partition ? "partition" : "disk",
		       human_bytes(packed->bytes, disk), human_bytes(packed->used, used),
		       (double)packed->used / (double)packed->file_bytes);
}

enum exit_code verb_pack(const struct operands *operands) {
	const char *out = operands_get(operands, "out"), *folder = operands_get(operands, "folder");
	cleanup_free char *copy = strdup(out);
	struct request request = {.in = operands_get(operands, "in"), .out = out};
	struct packed packed = {0};
	struct progress progress = {0};
	struct fault fault;
	int r;

	if (!copy)
		return CODE_FAILED;
	request.json = !strcmp(operands_get_or(operands, "json", "no"), "yes");
	request.order = (struct pack_order){
		.level = atoi(operands_get_or(operands, "level", "3")),
		.partition = operands_get(operands, "partition"),
		.sector = (uint32_t)atoi(operands_get_or(operands, "sector", "0")),
		.drop_rest = !strcmp(operands_get_or(operands, "gaps", "keep"), "drop"),
		.folder = folder ? folder : dirname(copy),
	};
	request.room = (struct import_room){.folder = request.order.folder, .limit = IMPORT_LIMIT};
	if (operands_get(operands, "limit"))
		(void)number_parse(operands_get(operands, "limit"), NUMBER_MAX, &request.room.limit); // checked
	progress.show = request.json ? NULL : console_progress;
	r = pack_file(&request, &packed, &progress, &fault);
	if (r < 0)
		return fault_print(&fault, "pack");
	print_packed(&request, &packed);
	return CODE_DONE;
}
