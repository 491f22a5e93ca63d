// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"

#define MEMINFO_MAX 65536u
#define MIB ((uint64_t)1 << 20)

int memory_check(const char *root, uint64_t bytes, const char *what, struct fault *fault) {
	cleanup_free char *text = NULL;
	char path[PATH_MAX];
	const char *line;
	uint64_t kib = 0;

	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	if (file_read(path, MEMINFO_MAX, &text, NULL) < 0 || !(line = strstr(text, "MemAvailable:")) ||
	    sscanf(line, "MemAvailable: %" SCNu64, &kib) != 1 || bytes / 1024 < kib)
		return 0;
	return fault_set(fault, CODE_UNSUPPORTED,
			 "%s needs %" PRIu64 " MiB of memory; this machine has %" PRIu64 " MiB left", what,
			 (bytes + MIB - 1) / MIB, kib / 1024);
}
