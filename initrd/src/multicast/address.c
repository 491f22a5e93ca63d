// SPDX-License-Identifier: Apache-2.0
#include "multicast/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/number.h"

#define GROUPS UINT32_C(0xefc00000) // 239.192.0.0/14

static bool read_key(const char *hex, uint8_t ret[SIPHASH_KEY]) {
	if (strlen(hex) != 2 * SIPHASH_KEY || strspn(hex, "0123456789abcdef") != 2 * SIPHASH_KEY)
		return false;
	for (size_t i = 0; i < SIPHASH_KEY; i++)
		(void)sscanf(hex + 2 * i, "%2hhx", &ret[i]);
	return true;
}

int address_parse(const char *text, struct multicast_address *ret, struct fault *fault) {
	char address[16] = "", port[6] = "";
	int end = 0;
	uint64_t number;

	*ret = (struct multicast_address){
		.sender = {.sin_family = AF_INET}, .join = DEFAULT_JOIN, .silence = DEFAULT_SILENCE};
	if (sscanf(text, "%15[0-9.]:%5[0-9]%n", address, port, &end) != 2 || (text[end] && text[end] != '/') ||
	    inet_pton(AF_INET, address, &ret->sender.sin_addr) != 1 || number_parse(port, 65535, &number) < 0 ||
	    number == 0)
		return fault_set(fault, CODE_USAGE,
				 "the address of a multicast must be ADDRESS:PORT or ADDRESS:PORT/KEY, with an IPv4 "
				 "address");
	ret->sender.sin_port = htons((uint16_t)number);
	ret->has_key = text[end] == '/';
	if (ret->has_key && !read_key(text + end + 1, ret->key))
		return fault_set(fault, CODE_USAGE, "the key of a multicast must be %u hex digits", 2 * SIPHASH_KEY);
	return 0;
}

struct sockaddr_in address_group(const uint8_t digest[HASH]) {
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(GROUP_PORT),
				    .sin_addr = {htonl(GROUPS | get_be32(digest) >> 14)}};
}

int address_key(const char *secret, size_t size, const uint8_t digest[HASH], uint8_t ret[SIPHASH_KEY]) {
	uint8_t full[EVP_MAX_MD_SIZE];
	unsigned full_size;

	if (!HMAC(EVP_sha256(), secret, (int)size, digest, HASH, full, &full_size))
		return -EIO;
	memcpy(ret, full, SIPHASH_KEY);
	return 0;
}
