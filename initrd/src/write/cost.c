// SPDX-License-Identifier: Apache-2.0
#include "write/cost.h"

#include <stdio.h>

#define WORTH 0.9 // of the time of a full write: the rates are not more precise

struct part {
	double seconds;
	uint64_t rate;
	const char *what, *note;
};

static double seconds(uint64_t bytes, uint64_t rate) { return (double)bytes / (double)(rate ? rate : 1); }

static struct part longer(struct part a, struct part b) { return b.seconds > a.seconds ? b : a; }

// The slowest part of a full write; the others run in parallel.
static struct part full(const struct cost *cost) {
	uint64_t write = cost->write ? cost->write : cost->read;
	struct part fetching = {seconds(cost->fetch, cost->network), cost->network, "fetching", ""};
	struct part writing = {seconds(cost->used, write), write, "writing",
			       cost->write ? "" : " (taken to be that of reading)"};
	struct part decoding = {seconds(cost->used, cost->decode), cost->decode, "decoding", ""};

	return longer(longer(fetching, writing), decoding);
}

static const char *rate_text(uint64_t rate, char *text, size_t room) {
	if (rate >= 1000000000)
		snprintf(text, room, "%.1f GB/s", (double)rate / 1e9);
	else
		snprintf(text, room, "%.0f MB/s", (double)rate / 1e6);
	return text;
}

bool cost_is_delta(const struct cost *cost, char *why, size_t room) {
	struct part all = full(cost);
	double reading = seconds(cost->used, cost->read),
	       share = cost->sampled ? (double)cost->differ / cost->sampled : 1;
	bool is_delta = reading + share * all.seconds < WORTH * all.seconds;
	char read_rate[32], full_rate[32];

	if (cost->differ >= cost->sampled) {
		snprintf(why, room, "full: %u of %u sampled chunks differ", cost->differ, cost->sampled);
		return false;
	}
	snprintf(why, room,
		 "%s: %.0f %% of %u sampled chunks differ; reading takes %.1f s at %s, %s all %.1f s at %s%s",
		 is_delta ? "delta" : "full", share * 100, cost->sampled, reading,
		 rate_text(cost->read, read_rate, sizeof(read_rate)), all.what, all.seconds,
		 rate_text(all.rate, full_rate, sizeof(full_rate)), all.note);
	return is_delta;
}
