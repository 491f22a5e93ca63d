// SPDX-License-Identifier: Apache-2.0
#include "pack/sink.h"

void sink_close(struct sink **sink) {
	if (*sink)
		(*sink)->ops->close(*sink);
	*sink = NULL;
}
