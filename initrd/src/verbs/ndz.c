// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "import/ndz_unpack.h"
#include "verbs/verbs.h"

static int unpack(const char *from, const char *to, struct fault *fault) {
	cleanup_close int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CLOEXEC);
	struct reader reader;
	uint32_t sector;
	int r;

	if (in < 0 || out < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", in < 0 ? from : to);
	r = reader_open(in, "the file", &reader, &sector, fault);
	return r == 0 ? ndz_unpack(&reader, out, fault) : r;
}

enum exit_code verb_ndz(int count, char **words) {
	struct fault fault;

	if (count != 2) {
		fputs("ndz: usage: sledc ndz IN OUT\n", stderr);
		return CODE_USAGE;
	}
	return unpack(words[0], words[1], &fault) < 0 ? fault_print(&fault, "ndz") : CODE_DONE;
}
