// SPDX-License-Identifier: Apache-2.0
#include "net/quota.h"

#include "base/clock.h"

bool quota_take(struct quota *quota, uint32_t address, uint32_t most, int64_t now) {
	uint32_t bucket = (address * UINT32_C(0x9e3779b1)) >> 23, row = 0;

	for (uint32_t i = 0; i < QUOTA_WAYS; i++) {
		if (quota->rows[bucket][i].address == address) {
			row = i;
			break;
		}
		if (quota->rows[bucket][i].since < quota->rows[bucket][row].since)
			row = i;
	}
	if (quota->rows[bucket][row].address != address || now - quota->rows[bucket][row].since >= SECOND) {
		quota->rows[bucket][row].address = address;
		quota->rows[bucket][row].taken = 0;
		quota->rows[bucket][row].since = now;
	}
	return quota->rows[bucket][row].taken++ < most;
}
