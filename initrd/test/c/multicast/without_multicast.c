// SPDX-License-Identifier: Apache-2.0
// Stands in for all of multicast, so that a sledc without it can be linked: what multicast costs is the difference
// (`make growth`).
#include <errno.h>

#include "source/ask_sender.h"
#include "source/feed_multicast.h"
#include "verbs/verbs.h"

const struct operand_rule send_rules[] = {{0}}, mcast_test_rules[] = {{0}};

enum exit_code verb_send(const struct operands *operands) {
	(void)operands;
	return CODE_UNSUPPORTED;
}

enum exit_code verb_mcast_test(const struct operands *operands) {
	(void)operands;
	return CODE_UNSUPPORTED;
}

int address_parse(const char *text, struct multicast_address *ret, struct fault *fault) {
	(void)text, (void)ret;
	return fault_set(fault, CODE_UNSUPPORTED, "no multicast");
}

uint64_t ask_sender_rate(struct multicast_address *address, const uint8_t digest[HASH]) {
	(void)address, (void)digest;
	return 0;
}

int feed_open_multicast(struct source *source, const struct index *index, const uint8_t *wanted, size_t memory,
			const struct multicast_address *address, const uint8_t digest[HASH],
			struct multicast_summary *told, struct feed **ret, struct fault *fault) {
	(void)source, (void)index, (void)wanted, (void)memory, (void)address, (void)digest, (void)told, (void)ret;
	return fault_set(fault, CODE_UNSUPPORTED, "no multicast");
}
