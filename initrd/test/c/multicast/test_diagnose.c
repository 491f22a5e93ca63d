// SPDX-License-Identifier: Apache-2.0
// What mcast-test makes of what a node saw.
#include <arpa/inet.h>
#include <string.h>

#include "multicast/diagnose.h"
#include "net/sniff.h"
#include "tap.h"

static void says(struct sighting seen, bool works, const char *words) {
	char text[256];

	ok(diagnose(&seen, text, sizeof(text)) == works && strstr(text, words), "%s: %s", words, text);
}

static void test_verdicts(void) {
	says((struct sighting){.closed = true}, false, "nothing listens");
	says((struct sighting){.routed = true}, false, "no answer: a firewall");
	says((struct sighting){.answered = true, .alone = true}, false, "so few nodes");
	says((struct sighting){.answered = true, .on_wire = true}, false, "this node, and its firewall");
	says((struct sighting){.answered = true, .routed = true}, false, "ttl");
	says((struct sighting){.answered = true}, false, "no querier was heard");
	says((struct sighting){.answered = true, .querier = true}, false, "VLAN");
	says((struct sighting){.answered = true, .packets = 1000, .lost = 30, .querier = true}, true, "lower rate");
	says((struct sighting){.answered = true, .packets = 1000, .lost = 3}, true, "works; no querier");
	says((struct sighting){.packets = 1000, .routed = true}, true, "multicast works");
}

static bool sees(const char *hex, bool udp, bool query) {
	const struct in_addr group = {inet_addr("239.192.1.2")};
	struct sniff sniff = {.fd = -1};
	uint8_t packet[64];
	size_t size = strlen(hex) / 2;

	for (size_t i = 0; i < size; i++)
		(void)sscanf(hex + 2 * i, "%2hhx", &packet[i]);
	return sniff_sees(packet, size, group, &sniff) == (udp || query) && sniff.udp == udp && sniff.query == query;
}

#define START "4500001c00004000"  // up to the time to live
#define PLACES "c6120001efc00102" // 198.18.0.1 to 239.192.1.2
#define OPTIONS "94040000"	  // router alert, as queries have

// clang-format off
static void test_packets(void) {
	ok(sees(START "01110000" PLACES "1b581b5800080000", true, false), "UDP to the group");
	ok(!sees(START "01110000" "c6120001efc00103" "1b581b5800080000", true, false), "to another group");
	ok(sees("4600002000004000" "01020000" "c6120001e0000001" OPTIONS "1164000000000000", false, true), "a query");
	ok(sees("4600002000004000" "01020000" "c6120001e0000001" OPTIONS "1664000000000000", false, false), "a report");
	ok(sees("4600002000004000" "01020000" "c6120001e0000001" OPTIONS, false, false), "a query that is cut");
	ok(sees(START "01110000" "c612", false, false), "a header that is cut");
	ok(sees("4f00001c00004000" "01020000" "c6120001e0000001" "11", false, false),
	   "a header longer than the packet");
	ok(sees("4400001c00004000" "01110000" PLACES "11", false, false), "a header that is too short");
}
// clang-format on

int main(void) {
	test_verdicts();
	test_packets();
	return tap_done();
}
