// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <unistd.h>

#include "verbs/verbs.h"

#define BAR 30u

static void show_bar(const struct progress *p) {
	unsigned percent = p->total ? (unsigned)(100.0 * (double)p->done / (double)p->total) : 100;
	char bar[BAR + 1];

	for (unsigned i = 0; i < BAR; i++)
		bar[i] = i * 100 < percent * BAR ? '#' : '.';
	bar[BAR] = 0;
	printf("\r%s %3u %%  %llu of %llu MiB  %llu MiB/s  %s", bar, percent, (unsigned long long)p->done >> 20,
	       (unsigned long long)p->total >> 20, (unsigned long long)p->rate >> 20, p->done >= p->total ? "\n" : "");
}

void console_progress(const struct progress *p) {
	if (isatty(STDOUT_FILENO))
		show_bar(p);
	else
		printf("progress bytes=%llu total=%llu rate=%llu\n", (unsigned long long)p->done,
		       (unsigned long long)p->total, (unsigned long long)p->rate);
	fflush(stdout);
}
