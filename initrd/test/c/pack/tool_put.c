// SPDX-License-Identifier: Apache-2.0
// tool_put URL TOKEN [nocommit]: standard input to an upload, in writes of any size. $SLED_CA: certificates.
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "pack/sink.h"

static int copy(struct sink *sink, struct fault *fault) {
	char data[300000];
	size_t n, step = 1;
	int r = 0;

	while (r == 0 && (n = fread(data, 1, step, stdin)) > 0) {
		r = sink->ops->write(sink, data, n, fault);
		step = (step * 7 + 1) % sizeof(data) + 1;
	}
	return r;
}

int main(int count, char **words) {
	cleanup_with(url_free) struct url url = {0};
	struct sink *sink = NULL;
	struct fault fault;
	int r;

	if (count < 3)
		return CODE_USAGE;
	signal(SIGPIPE, SIG_IGN);
	r = url_parse(words[1], &url, &fault);
	if (r == 0)
		r = sink_open_upload(&url, getenv("SLED_CA"), *words[2] ? words[2] : NULL, &sink, &fault);
	if (r == 0)
		r = copy(sink, &fault);
	if (r == 0 && count == 3)
		r = sink->ops->commit(sink, &fault);
	if (sink)
		sink->ops->close(sink);
	return r < 0 ? fault_print(&fault, "put") : CODE_DONE;
}
