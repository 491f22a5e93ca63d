// SPDX-License-Identifier: Apache-2.0
// A sender of multicast and its receivers in virtual time. All counts are exact: they follow from the seed.
#include "simulation.h"
#include "tap.h"

#define CAP 100000u // kbit/s

static struct simulation_result run(const char *name, struct simulation order) {
	struct simulation_result r;

	order.cap = CAP;
	order.seed = 7;
	r = simulate(&order);
	printf("# %s: %.3f copies, %.2f s, slowest %.2f s, %u complete, %u left, %u NEEDs/s, duplicates %.3f\n", name,
	       r.copies, r.seconds, r.slowest, r.complete, r.left, r.needs_most,
	       r.received > 0 ? (double)r.duplicate / (double)r.received : 0.0);
	ok(r.wrong == 0, "%s: frames are as they were", name);
	return r;
}

static void test_bytes(void) {
	struct simulation order = {.receivers = 4, .chunks = 12, .share = 0.05, .bytes = true, .disorder = true};
	struct simulation_result r = run("bytes", order);

	ok(r.complete == 4, "all are complete");
	order.loss = LOSS_BURST;
	order.share = 0.15;
	r = run("bytes, bursts", order);
	ok(r.complete == 4, "all are complete");
}

static void test_losses(void) {
	static const char *const names[] = {"independent", "common", "burst"};
	static const double most[] = {1.20, 1.10, 1.25};
	static const double slowest[] = {1.15, 1.15, 1.30}; // of the time of one alone

	for (int loss = LOSS_INDEPENDENT; loss <= LOSS_BURST; loss++) {
		struct simulation order = {.receivers = 1, .chunks = 48, .loss = loss, .share = 0.05};
		struct simulation_result one = run("one that loses 5 %", order), r;
		order.receivers = 80;
		r = run(names[loss], order);
		ok(r.complete == 80, "%s: all are complete", names[loss]);
		ok(r.copies <= most[loss], "%s: at most %.2f copies", names[loss], most[loss]);
		ok(r.needs_most <= 5000, "%s: at most 5,000 NEEDs in a second", names[loss]);
		ok(r.slowest <= slowest[loss] * one.slowest, "%s: as fast as one alone", names[loss]);
	}
}

static void test_alone(void) {
	struct simulation order = {.receivers = 1, .chunks = 20};
	struct simulation_result r = run("one", order);

	ok(r.complete == 1 && r.copies == 1, "nothing is sent twice");
	order.receivers = 80;
	r = run("80", order);
	ok(r.complete == 80 && r.copies == 1 && r.duplicate == 0, "nor to 80");
}

// Who comes late is ready one image time after it came, and the sender sends for 1 + spread / time.
static void test_late(void) {
	struct simulation order = {.receivers = 1, .chunks = 200};
	struct simulation_result alone = run("200 chunks", order), r;

	order.receivers = 80;
	order.spread = (int64_t)(alone.seconds * SECOND);
	r = run("late", order);
	ok(r.complete == 80 && r.slowest <= 1.15 * alone.seconds, "the slowest takes at most 1.15 of one alone");
	ok(r.copies <= 1.05 * 2, "1 + spread / time copies");
	ok((double)r.duplicate <= 0.03 * (double)r.received, "at most 3 %% duplicates");
}

// The nodes of a wave come within a second, and know how many they are: none fetches alone, and nothing is sent twice.
static void test_wave(void) {
	struct simulation order = {.receivers = 8, .chunks = 48, .from = 2, .spread = 900 * MILLISECOND};
	struct simulation_result r = run("a wave", order);

	ok(r.alone > 0 && r.copies > 1.1, "without a number the first ones are alone, and chunks are sent again");
	order.expected = 8;
	r = run("a wave that is expected", order);
	ok(r.alone == 0 && r.copies == 1 && r.duplicate == 0, "with it they get one copy");
	order.expected = 9;
	r = run("one stays away", order);
	ok(r.alone == 0 && r.copies == 1 && r.slowest < 3, "who does not come costs the others a second at most");
}

static void test_bad_one(void) {
	struct simulation order = {.receivers = 80, .chunks = 100};
	struct simulation_result good = run("all good", order), r;

	order.bad_share = 0.3;
	r = run("one bad", order);
	ok(r.complete == 79 && r.left == 1, "the bad one leaves");
	ok(r.copies <= 1.1 * good.copies, "and costs the others little");
}

static void test_deaths(void) {
	struct simulation order = {.receivers = 20, .chunks = 48, .share = 0.01, .killed = 5, .restarts = true};
	struct simulation_result r = run("deaths", order);

	ok(r.complete == 15, "all that live are complete, with another sender");
	ok(r.left == 0, "a new sender is no loss");
}

int main(void) {
	test_bytes();
	test_losses();
	test_alone();
	test_late();
	test_wave();
	test_bad_one();
	test_deaths();
	return tap_done();
}
