// SPDX-License-Identifier: Apache-2.0
#include "tap.h"
#include "write/cost.h"

#define MB 1000000ull
#define GB (1000 * MB)

// clang-format off
static const struct {
	const char *name;
	struct cost cost;
	bool is_delta;
	const char *why;
} cases[] = {
	{"5 % changed behind 1 Gbit/s",
	 {.fetch = 457 * MB, .used = 1560 * MB, .sampled = 40, .differ = 2, .read = 890 * MB,
	  .network = 118 * MB, .decode = 2 * GB},
	 true,
	 "delta: 5 % of 40 sampled chunks differ; reading takes 1.8 s at 890 MB/s, fetching all 3.9 s at 118 MB/s"},
	{"the same from the next room",
	 {.fetch = 457 * MB, .used = 1560 * MB, .sampled = 40, .differ = 2, .read = 890 * MB,
	  .network = 2 * GB, .decode = 2 * GB},
	 false,
	 "full: 5 % of 40 sampled chunks differ; reading takes 1.8 s at 890 MB/s, writing all 1.8 s at 890 MB/s "
	 "(taken to be that of reading)"},
	{"nothing changed, nothing to gain: a full write leaves no doubt",
	 {.fetch = 457 * MB, .used = 1560 * MB, .sampled = 32, .differ = 0, .read = 1200 * MB,
	  .network = 2 * GB, .decode = 2 * GB},
	 false,
	 "full: 0 % of 32 sampled chunks differ; reading takes 1.3 s at 1.2 GB/s, writing all 1.3 s at 1.2 GB/s "
	 "(taken to be that of reading)"},
	{"a third of it changed, 1 Gbit/s: 44 % is the border for this disk",
	 {.fetch = 457 * MB, .used = 1560 * MB, .sampled = 30, .differ = 10, .read = 890 * MB,
	  .network = 118 * MB, .decode = 2 * GB},
	 true,
	 "delta: 33 % of 30 sampled chunks differ; reading takes 1.8 s at 890 MB/s, fetching all 3.9 s at 118 MB/s"},
	{"and past the border",
	 {.fetch = 457 * MB, .used = 1560 * MB, .sampled = 32, .differ = 15, .read = 890 * MB,
	  .network = 118 * MB, .decode = 2 * GB},
	 false,
	 "full: 47 % of 32 sampled chunks differ; reading takes 1.8 s at 890 MB/s, fetching all 3.9 s at 118 MB/s"},
	{"10 Gbit/s and that disk: never",
	 {.fetch = 457 * MB, .used = 1560 * MB, .sampled = 32, .differ = 1, .read = 890 * MB,
	  .network = 1180 * MB, .write = 2500 * MB, .decode = 2 * GB},
	 false,
	 "full: 3 % of 32 sampled chunks differ; reading takes 1.8 s at 890 MB/s, decoding all 0.8 s at 2.0 GB/s"},
	{"a disk that is slow to write",
	 {.fetch = 100 * MB, .used = 1000 * MB, .sampled = 32, .differ = 1, .read = 500 * MB,
	  .network = 1180 * MB, .write = 100 * MB, .decode = 2 * GB},
	 true,
	 "delta: 3 % of 32 sampled chunks differ; reading takes 2.0 s at 500 MB/s, writing all 10.0 s at 100 MB/s"},
	{"a wiped disk", {.fetch = 457 * MB, .used = 1560 * MB, .sampled = 32, .differ = 32, .read = 2 * GB}, false,
	 "full: 32 of 32 sampled chunks differ"},
	{"an empty image", {.decode = GB}, false, "full: 0 of 0 sampled chunks differ"},
	{"a network that gave nothing",
	 {.fetch = 1000, .used = 2 * MB, .sampled = 32, .differ = 1, .read = GB, .decode = GB}, true,
	 "delta: 3 % of 32 sampled chunks differ; reading takes 0.0 s at 1.0 GB/s, fetching all 1000.0 s at 0 MB/s"},
};
// clang-format on

int main(void) {
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char why[256];
		ok(cost_is_delta(&cases[i].cost, why, sizeof(why)) == cases[i].is_delta, "%s", cases[i].name);
		same(why, cases[i].why, "%s: its reason", cases[i].name);
	}
	return tap_done();
}
