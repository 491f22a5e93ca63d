// SPDX-License-Identifier: Apache-2.0
// Where an image is multicast, the key of its session, and how many requests an address may send.
#include <arpa/inet.h>
#include <stdlib.h>

#include "base/clock.h"
#include "multicast/address.h"
#include "net/quota.h"
#include "tap.h"

#define KEY "00112233445566778899aabbccddeeff"

static void test_parse(void) {
	static const char *const bad[] = {"",
					  "10.0.0.1",
					  "10.0.0.1:",
					  "10.0.0.1:0",
					  "10.0.0.1:65536",
					  "10.0.0.1:07001",
					  "10.0.0:7001",
					  "10.0.0.256:7001",
					  "[::1]:7001",
					  "boot:7001",
					  "10.0.0.1:7001/",
					  "10.0.0.1:7001 ",
					  "10.0.0.1:7001/" KEY "0",
					  "10.0.0.1:7001/0",
					  " 10.0.0.1:7001",
					  "10.0.0.1:7001/" KEY "/"};
	struct fault fault = {0};
	struct multicast_address address;

	ok(address_parse("10.1.2.3:7001", &address, &fault) == 0 && !address.has_key &&
		   ntohs(address.sender.sin_port) == 7001 && ntohl(address.sender.sin_addr.s_addr) == 0x0a010203,
	   "an address");
	ok(address_parse("10.1.2.3:65535/" KEY, &address, &fault) == 0 && address.has_key && address.key[0] == 0 &&
		   address.key[15] == 0xff,
	   "with a key");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(address_parse(bad[i], &address, &fault) < 0 && fault.code == CODE_USAGE, "\"%s\": %s", bad[i],
		   fault.text);
	ok(address_parse("10.1.2.3:7001/" KEY "0", &address, &fault) < 0 && !strstr(fault.text, "0011"),
	   "the key is not shown");
}

static void test_group(void) {
	uint8_t digest[HASH] = {0};
	char text[INET_ADDRSTRLEN];
	struct sockaddr_in group = address_group(digest);

	same(inet_ntop(AF_INET, &group.sin_addr, text, sizeof(text)), "239.192.0.0", "the first group");
	memset(digest, 0xff, sizeof(digest));
	group = address_group(digest);
	same(inet_ntop(AF_INET, &group.sin_addr, text, sizeof(text)), "239.195.255.255", "the last group");
	ok(ntohs(group.sin_port) == 7000, "its port");
}

static void test_key(void) {
	static const uint8_t digest[HASH];
	static const uint8_t wanted[SIPHASH_KEY] = {0x79, 0xcc, 0x42, 0x6f, 0xe6, 0x7b, 0x64, 0x3e,
						    0xc3, 0xe4, 0x38, 0x40, 0x31, 0x74, 0xd4, 0xe7}; // by Python's hmac
	uint8_t key[SIPHASH_KEY], other[SIPHASH_KEY];

	ok(address_key("site", 4, digest, key) == 0 && address_key("sits", 4, digest, other) == 0 &&
		   memcmp(key, other, sizeof(key)) != 0,
	   "each secret has another key");
	ok(memcmp(key, wanted, sizeof(key)) == 0, "the key of a digest");
}

static void test_quota(void) {
	static struct quota quota;
	uint32_t taken = 0;

	for (int i = 0; i < 300; i++)
		taken += quota_take(&quota, 1, 100, 10 * SECOND + i * MILLISECOND);
	ok(taken == 100, "100 in a second");
	ok(quota_take(&quota, 2, 100, 10 * SECOND), "another address has its own");
	ok(quota_take(&quota, 1, 100, 11 * SECOND), "and again in the next second");
	for (uint32_t i = 0; i < 100000; i++)
		taken += quota_take(&quota, i, 100, 12 * SECOND);
	ok(taken == 100100, "many addresses");
}

int main(void) {
	test_parse();
	test_group();
	test_key();
	test_quota();
	return tap_done();
}
