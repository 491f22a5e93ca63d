// SPDX-License-Identifier: Apache-2.0
// Pauses between retries, of many nodes.
#include "base/clock.h"
#include "tap.h"

#define NODES 1000

int main(void) {
	static struct backoff nodes[NODES];
	const int64_t most[] = {250 * MILLISECOND, 500 * MILLISECOND, SECOND, SECOND};

	for (unsigned i = 0; i < NODES; i++)
		nodes[i].max = SECOND;
	for (unsigned retry = 0; retry < sizeof(most) / sizeof(*most); retry++) {
		unsigned outside = 0, early = 0;

		for (unsigned i = 0; i < NODES; i++) {
			int64_t pause = backoff_next(&nodes[i]);
			outside += pause > most[retry] || pause <= most[retry] / 2;
			early += pause <= most[retry] * 3 / 4;
		}
		ok(outside == 0, "retry %u: each pause is more than half of %lld ms, and no longer", retry,
		   (long long)(most[retry] / MILLISECOND));
		ok(early > NODES / 4 && early < NODES * 3 / 4, "retry %u: %u of %d return in the first half of that",
		   retry, early, NODES);
	}
	return tap_done();
}
