// SPDX-License-Identifier: Apache-2.0
// tool_multicast [RECEIVERS [SEEDS [CHUNKS]]]: multicast in virtual time, with each kind and share of loss. Ends with 1
// if a receiver is not complete, more than 1.25 copies were sent, or more than 5,000 NEEDs in a second.
#include <stdio.h>
#include <time.h>

#include "simulation.h"

#define CAP 100000u // kbit/s

struct sum {
	double least, most, copies, slowest;
	uint64_t duplicate, received;
	uint32_t needs, missing;
};

static struct sum run_all(struct simulation order, uint32_t seeds) {
	struct sum sum = {.least = 1e9};

	for (order.seed = 1; order.seed <= seeds; order.seed++) {
		struct simulation_result r = simulate(&order);
		sum.least = r.copies < sum.least ? r.copies : sum.least;
		sum.most = r.copies > sum.most ? r.copies : sum.most;
		sum.copies += r.copies / seeds;
		sum.slowest = r.slowest > sum.slowest ? r.slowest : sum.slowest;
		sum.duplicate += r.duplicate;
		sum.received += r.received;
		sum.needs = r.needs_most > sum.needs ? r.needs_most : sum.needs;
		sum.missing += order.receivers - r.complete;
	}
	return sum;
}

int main(int count, char **words) {
	static const char *const names[] = {"independent", "common", "burst"};
	uint32_t seeds = count > 2 ? (uint32_t)atoi(words[2]) : 10;
	struct simulation order = {.receivers = count > 1 ? (uint32_t)atoi(words[1]) : 1000,
				   .chunks = count > 3 ? (uint32_t)atoi(words[3]) : 48,
				   .cap = CAP};
	bool good = true;

	printf("loss             copies  least   most  NEEDs/s  slowest  duplicates  incomplete\n");
	for (unsigned i = 0; i < 9; i++) {
		static const double shares[] = {0, 0.01, 0.05};
		struct sum sum;
		order.loss = i / 3;
		order.share = shares[i % 3];
		sum = run_all(order, seeds);
		good = good && sum.missing == 0 && sum.most <= 1.25 && sum.needs <= 5000;
		printf("%-11s %.2f  %.3f  %.3f  %.3f  %7u  %5.2f s  %10.3f  %10u\n", names[order.loss], order.share,
		       sum.copies, sum.least, sum.most, sum.needs, sum.slowest,
		       sum.received > 0 ? (double)sum.duplicate / (double)sum.received : 0.0, sum.missing);
		fflush(stdout);
	}
	printf("%.1f s of CPU\n", (double)clock() / CLOCKS_PER_SEC);
	return good ? 0 : 1;
}
