// SPDX-License-Identifier: Apache-2.0
// What an NVMe drive returns. The first byte selects the structure. What is accepted can be used in a command.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "drive/nvme.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_controller(const uint8_t *data, size_t size) {
	struct nvme_controller c;

	if (nvme_controller_decode(data, size, &c) < 0)
		return;
	for (const char *text = c.model; *text; text++)
		if (*text < ' ' || *text > '~')
			abort();
	if (strlen(c.serial) > 20 || strlen(c.model) > 40 || strlen(c.nqn) > 256)
		abort();
}

static void try_namespace(const uint8_t *data, size_t size) {
	uint8_t command[NVME_COMMAND];
	struct nvme_namespace n;

	if (nvme_namespace_decode(data, size, &n) < 0)
		return;
	nvme_format(1, &n, NVME_SES_USER, command);
	if ((command[40] & 15) != (n.format & 15) || (command[41] >> 1 & 7) != NVME_SES_USER ||
	    (command[41] >> 4 & 3) != n.format >> 4 || command[42] || command[43])
		abort();
}

static void try_list(const uint8_t *data, size_t size) {
	static uint32_t list[NVME_LIST_MAX];
	unsigned count;

	if (nvme_list_decode(data, size, list, &count) < 0)
		return;
	for (unsigned i = 1; i < count; i++)
		if (list[i] <= list[i - 1])
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	uint8_t *page = calloc(1, NVME_PAGE);
	struct nvme_sanitize log;
	char text[96];

	if (!page || size < 1) {
		free(page);
		return 0;
	}
	// Pages are long and mostly zeros: the input is the beginning of one, or, with bit 7, all that there is.
	memcpy(page, data + 1, size - 1 < NVME_PAGE ? size - 1 : NVME_PAGE);
	size = data[0] & 128 ? (size - 1 < NVME_PAGE ? size - 1 : NVME_PAGE) : NVME_PAGE;
	if ((data[0] & 3) == 0)
		try_controller(page, size);
	else if ((data[0] & 3) == 1)
		try_namespace(page, size);
	else if ((data[0] & 3) == 2)
		try_list(page, size);
	else if (nvme_sanitize_decode(page, size, &log) == 0)
		nvme_status_text(log.status, text, sizeof(text));
	free(page);
	return 0;
}
