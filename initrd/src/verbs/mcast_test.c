// SPDX-License-Identifier: Apache-2.0
// Whether multicast from a sender arrives at this node, at what rate, and what is likely wrong.
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "multicast/diagnose.h"
#include "multicast/address.h"
#include "net/sniff.h"
#include "net/udp.h"
#include "verbs/verbs.h"

#define CHUNKS 128u // that are requested: about 40 MB
#define CLIENTS 16u // pretended, one after the other, until the sender sends
#define ASKS (100 * MILLISECOND)
#define WAITS (3 * SECOND) // for the first packet
#define QUIET (500 * MILLISECOND)
#define LASTS (10 * SECOND)
#define PACKETS 64u

const struct operand_rule mcast_test_rules[] = {
	{"multicast", true, "sender, and the key of its packets, as in the plan", NULL, check_multicast},
	{"digest", true, "of an image that the sender has", NULL, check_digest},
	{0},
};

struct trial {
	struct multicast_address address;
	struct sockaddr_in group_at;
	struct session session;
	int sender, group;
	struct sniff sniff;
	struct sighting seen;
	uint32_t first, client;	   // client ids are first + 1 and so on
	uint32_t rate, clients;	   // as announced, kbit/s
	uint32_t last;		   // sequence
	int64_t asked, begin, end; // of DATA
};

static int digest_of(const char *text, uint8_t ret[HASH]) {
	const char *hex = strchr(text, ':');

	for (size_t i = 0; hex && i < HASH; i++)
		if (sscanf(hex + 1 + 2 * i, "%2hhx", &ret[i]) != 1)
			return -EINVAL;
	return hex ? 0 : -EINVAL;
}

// A route of its own, not by a gateway.
static bool is_routed(const struct sockaddr_in *to) {
	cleanup_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const int on = 1;

	return fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_DONTROUTE, &on, sizeof(on)) == 0 &&
	       connect(fd, (const struct sockaddr *)to, sizeof(*to)) < 0;
}

static int open_trial(struct trial *t, const struct operands *operands, struct fault *fault) {
	uint8_t digest[HASH];
	struct in_addr local;
	struct fault ignored;
	int r = address_parse(operands_get(operands, "multicast"), &t->address, fault);

	if (r == 0 && digest_of(operands_get(operands, "digest"), digest) < 0)
		return fault_set(fault, CODE_USAGE, "digest: not sha256:HEX");
	if (r == 0 && getrandom(&t->first, sizeof(t->first), 0) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "random numbers");
	if (r == 0)
		r = udp_connect(&t->address.sender, &local, &t->sender, fault);
	if (r < 0)
		return r;
	t->group_at = address_group(digest);
	memcpy(t->session.id, digest, SESSION_ID);
	memcpy(t->session.key, t->address.key, SIPHASH_KEY);
	t->session.has_key = t->address.has_key;
	t->seen.routed = is_routed(&t->address.sender);
	if (sniff_open(local, &t->sniff, &ignored) < 0) // less is known then
		fault_print(&ignored, "mcast-test");
	return udp_join(&t->group_at, local, &t->group, fault);
}

// For one node more each time, until the sender sends: it does so from the second on, or as its operand says. Then it
// is told that it is heard.
static void ask(struct trial *t, int64_t now) {
	struct packet need = {.type = PACKET_NEED, .sequence = t->last};
	uint8_t bytes[PACKET_MAX];

	if (now - t->asked < ASKS)
		return;
	t->asked = now;
	if (t->begin == 0 && t->client < CLIENTS)
		t->client++;
	need.need.client = t->first + t->client ? t->first + t->client : 1;
	need.need.entry_count = t->begin == 0;
	need.need.entries[0].count = CHUNKS;
	if (send(t->sender, bytes, packet_encode(&need, &t->session, bytes), MSG_DONTWAIT) < 0)
		t->seen.closed |= errno == ECONNREFUSED;
}

static void take_data(struct trial *t, uint32_t sequence, int64_t now) {
	int32_t ahead = (int32_t)(sequence - t->last);

	if (t->begin == 0)
		t->begin = now;
	else if (ahead > 1)
		t->seen.lost += (uint64_t)ahead - 1;
	if (t->seen.packets++ == 0 || ahead > 0)
		t->last = sequence;
	t->end = now;
}

static void take(struct trial *t, const struct packet *packet, bool is_mine, int64_t now) {
	if (packet->type == PACKET_ANNOUNCE) {
		t->rate = packet->announce.rate;
		t->clients = packet->announce.clients;
		t->seen.answered |= is_mine;
		if (is_mine)
			t->seen.alone = packet->flags & FLAG_ALONE;
	} else if (packet->type == PACKET_DATA && !is_mine) {
		take_data(t, packet->sequence, now);
	}
}

static void receive(struct trial *t, int fd, int64_t now) {
	static uint8_t buffers[PACKETS][PACKET_MAX + 1];
	static struct udp_packet packets[PACKETS];
	static struct packet packet;
	size_t count;

	for (size_t i = 0; i < PACKETS; i++)
		packets[i].data = buffers[i];
	errno = 0;
	count = udp_receive(fd, packets, PACKETS, PACKET_MAX + 1);
	t->seen.closed |= count == 0 && errno == ECONNREFUSED;
	for (size_t i = 0; i < count; i++)
		if (packet_decode(packets[i].data, packets[i].size, &t->session, &packet) == PACKET_TAKEN)
			take(t, &packet, fd == t->sender, now);
}

static bool is_over(const struct trial *t, int64_t opened, int64_t now) {
	if (t->begin == 0)
		return now - opened > WAITS;
	return now - t->end > QUIET || now - t->begin > LASTS;
}

static void run(struct trial *t) {
	struct pollfd wait[] = {{.fd = t->group, .events = POLLIN}, {.fd = t->sender, .events = POLLIN}};
	int64_t opened = clock_now(), now = opened;

	for (; !is_over(t, opened, now); now = clock_now()) {
		ask(t, now);
		(void)poll(wait, ELEMENTS(wait), 20);
		receive(t, t->group, clock_now());
		receive(t, t->sender, clock_now());
		sniff_look(&t->sniff, t->group_at.sin_addr);
	}
	cleanup_close_(&t->group); // a querier asks whether another member is there
	t->group = -1;
	for (opened = now; now - opened < WAITS && !t->sniff.query; now = clock_now()) {
		(void)poll(NULL, 0, 50);
		sniff_look(&t->sniff, t->group_at.sin_addr);
	}
	t->seen.on_wire = t->sniff.udp;
	t->seen.querier = t->sniff.query;
}

static void print_seen(const struct trial *t) {
	double seconds = (double)(t->end - t->begin) / (double)SECOND;
	const struct sighting *seen = &t->seen;

	if (seen->answered)
		printf("sender: answers; rate %.0f Mbit/s\n", (double)t->rate / 1e3);
	else
		printf("sender: %s\n", seen->closed ? "its machine answers that nothing listens" : "no answer");
	printf("group %s: ", inet_ntoa(t->group_at.sin_addr));
	if (seen->packets > 1)
		printf("%.0f Mbit/s, %llu packets, %llu lost\n",
		       seconds > 0 ? (double)seen->packets * PACKET_MAX * 8 / seconds / 1e6 : 0.0,
		       (unsigned long long)seen->packets, (unsigned long long)seen->lost);
	else
		printf("%s\n", seen->on_wire ? "packets reach the interface, and no program" : "nothing arrives");
	printf("querier: %s\n", seen->querier ? "heard" : "not heard");
}

enum exit_code verb_mcast_test(const struct operands *operands) {
	struct trial trial = {.sender = -1, .group = -1, .sniff = {.fd = -1}};
	char verdict[256];
	struct fault fault;
	bool works = false;
	int r = open_trial(&trial, operands, &fault);

	if (r == 0) {
		run(&trial);
		print_seen(&trial);
		works = diagnose(&trial.seen, verdict, sizeof(verdict));
		printf("%s\n", verdict);
	}
	cleanup_close_(&trial.group);
	cleanup_close_(&trial.sender);
	sniff_close(&trial.sniff);
	if (r < 0)
		return fault_print(&fault, "mcast-test");
	return works ? CODE_DONE : CODE_NETWORK;
}
