// SPDX-License-Identifier: Apache-2.0
// Packets of multicast, with and without a key. One that is taken is encoded to the same bytes.
#include <stdlib.h>
#include <string.h>

#include "multicast/packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_packet(const uint8_t *data, size_t size, const struct session *session) {
	static struct packet packet;
	uint8_t again[PACKET_MAX];

	if (packet_decode(data, size, session, &packet) != PACKET_TAKEN)
		return;
	if (packet_encode(&packet, session, again) != size || memcmp(again, data, size) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct session session = {0};

	if (packet_session(data, size))
		memcpy(session.id, packet_session(data, size), SESSION_ID);
	try_packet(data, size, &session);
	session.has_key = true;
	try_packet(data, size, &session);
	return 0;
}
