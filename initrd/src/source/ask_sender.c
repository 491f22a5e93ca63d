// SPDX-License-Identifier: Apache-2.0
#include "source/ask_sender.h"

#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "net/udp.h"

#define AGAIN (100 * MILLISECOND)

static bool is_answer(const uint8_t *bytes, size_t size, const struct session *session, uint32_t client,
		      struct packet *ret) {
	return packet_decode(bytes, size, session, ret) == PACKET_TAKEN && ret->type == PACKET_ANNOUNCE &&
	       ret->announce.client == client;
}

// A NEED without entries; false: nothing came until then.
static bool ask(int fd, const struct session *session, const struct multicast_address *address, int64_t until,
		struct packet *ret) {
	uint8_t bytes[PACKET_MAX + 1];
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	ssize_t size;

	*ret = (struct packet){.type = PACKET_NEED, .need = {.client = address->client, .expected = address->expected}};
	(void)send(fd, bytes, packet_encode(ret, session, bytes), MSG_DONTWAIT);
	while (poll(&wait, 1, clock_poll_timeout(until)) > 0 && clock_now() < until)
		if ((size = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0 &&
		    is_answer(bytes, (size_t)size, session, address->client, ret))
			return true;
	return false;
}

uint64_t ask_sender_rate(struct multicast_address *address, const uint8_t digest[HASH]) {
	struct session session = {.has_key = address->has_key};
	int64_t until = clock_now() + address->join;
	static struct packet answer;
	cleanup_close int fd = -1;
	struct in_addr local;
	struct fault fault;

	memcpy(session.id, digest, SESSION_ID);
	memcpy(session.key, address->key, SIPHASH_KEY);
	while (address->client == 0)
		if (getrandom(&address->client, sizeof(address->client), 0) < 0)
			return 0;
	if (udp_connect(&address->sender, &local, &fd, &fault) < 0)
		return 0; // the feed reports it
	for (int64_t now = clock_now(); now < until; now = clock_now()) {
		if (!ask(fd, &session, address, now + AGAIN < until ? now + AGAIN : until, &answer))
			continue;
		if (answer.flags & (FLAG_ALONE | FLAG_LEAVE))
			return 0;
		return (uint64_t)answer.announce.rate * 1000 / 8 * SYMBOL / PACKET_MAX;
	}
	return 0;
}
