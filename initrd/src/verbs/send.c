// SPDX-License-Identifier: Apache-2.0
// Sends the images of a folder to all nodes that request them (contract/multicast.md, "Sender").
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/number.h"
#include "verbs/sender.h"
#include "verbs/verbs.h"

#define NEEDS_OF_ADDRESS 100u	// in a second
#define SECRET_MAX 4096u	// bytes
#define RATE_MBIT_MAX 100000u
#define ACTIVATED 3		// the socket that systemd passes

const struct operand_rule send_rules[] = {
	{"folder", true, "folder of the images", NULL, NULL},
	{"rate", true, "most that is sent, in Mbit/s", NULL, check_positive},
	{"port", false, "UDP port of the requests (default 7001), unless systemd passes a socket", NULL,
	 check_positive},
	{"from", false, "number of nodes from which on an image is sent (default 2)", NULL, check_positive},
	{"ttl", false, "routers that packets may pass, and 1 (default 1)", NULL, check_positive},
	{"secret", false, "file with the secret that the keys are made from; without it packets have no tag", NULL,
	 NULL},
	{"state", false, "file that the sender writes its state to, every second; on a tmpfs", NULL, NULL},
	{0},
};

static uint64_t number_of(const struct operands *operands, const char *key, uint64_t otherwise, uint64_t most) {
	const char *text = operands_get(operands, key);
	uint64_t n = otherwise;

	if (text && number_parse(text, most, &n) < 0)
		n = most;
	return n;
}

static struct sending *find_session(struct sender *sender, const uint8_t *id, int interface) {
	for (uint32_t i = 0; i < sender->count; i++)
		if (!memcmp(sender->sessions[i]->session.id, id, SESSION_ID) &&
		    sender->sessions[i]->interface == interface)
			return sender->sessions[i];
	return NULL;
}

// Sessions that send share the cap.
static void share_cap(struct sender *sender) {
	uint32_t sending = 0;

	for (uint32_t i = 0; i < sender->count; i++)
		sending += carousel_is_sending(sender->sessions[i]->carousel);
	for (uint32_t i = 0; i < sender->count; i++)
		carousel_use_cap(sender->sessions[i]->carousel, sender->cap / (sending ? sending : 1));
}

// NULL: no image has that digest.
static struct sending *start_session(struct sender *sender, const uint8_t *id, int interface, int64_t now) {
	struct opened opened;
	struct sending *sending = NULL;
	struct fault fault;

	if (sender->count == SESSIONS_MAX || !shelf_find(sender->shelf, id, now, &opened))
		return NULL;
	if (sending_open(&opened, interface, sender->cap, sender->from, sender->secret, &sending, &fault) < 0) {
		fault_print(&fault, "send");
		opened_close(&opened);
		return NULL;
	}
	sender->sessions[sender->count++] = sending;
	printf("send: %s starts\n", opened_name(&sending->opened));
	fflush(stdout);
	return sending;
}

static void answer_need(struct sender *sender, struct sending *sending, const struct packet *need,
			const struct sockaddr_in *from, int64_t now) {
	static struct packet answer;
	uint8_t bytes[PACKET_MAX];
	struct fault ignored;

	sender->last_need = now;
	if (carousel_need(sending->carousel, need, now, &answer))
		(void)udp_send(sender->fd, from, 0, bytes, packet_encode(&answer, &sending->session, bytes), 1,
			       &ignored);
}

static void take_request(struct sender *sender, const struct udp_packet *from, int64_t now) {
	const uint8_t *id = packet_session(from->data, from->size);
	struct sending *sending = id ? find_session(sender, id, from->interface) : NULL;
	enum packet_refusal refusal = id ? REFUSED_SESSION : REFUSED_SIZE;
	static struct packet packet;

	if (!quota_take(sender->quota, from->from.sin_addr.s_addr, NEEDS_OF_ADDRESS, now)) {
		sender->limited++;
		return;
	}
	if (id && !sending)
		sending = start_session(sender, id, from->interface, now);
	if (sending)
		refusal = packet_decode(from->data, from->size, &sending->session, &packet);
	if (refusal != PACKET_TAKEN)
		sender->refused[refusal]++;
	else if (packet.type == PACKET_NEED)
		answer_need(sender, sending, &packet, &from->from, now);
	else if (packet.type == PACKET_STATS)
		sending_note(sending, &packet.stats);
	else
		sender->refused[REFUSED_TYPE]++;
}

static void take_requests(struct sender *sender, int64_t now) {
	size_t count = udp_receive(sender->fd, sender->packets, NEEDS_MAX, PACKET_MAX + 1);

	for (size_t i = 0; i < count; i++)
		take_request(sender, &sender->packets[i], now);
}

static void end_session(struct sender *sender, uint32_t i) {
	struct carousel_counts counts = sender->sessions[i]->carousel->counts;

	printf("send: %s ends: %llu data and %llu parity packets, %llu NEEDs\n",
	       opened_name(&sender->sessions[i]->opened), (unsigned long long)counts.data,
	       (unsigned long long)counts.repairs, (unsigned long long)counts.needs);
	fflush(stdout);
	sending_close(&sender->sessions[i]);
	sender->sessions[i] = sender->sessions[--sender->count];
}

// Returns when the next packet is due.
static int64_t send_all(struct sender *sender, int64_t now) {
	int64_t first = now + SECOND;

	share_cap(sender);
	for (uint32_t i = 0; i < sender->count;) {
		struct fault fault;
		int64_t next;
		if (sending_step(sender->sessions[i], sender->fd, now, &next, &fault) < 0) {
			fault_print(&fault, "send");
			end_session(sender, i);
		} else if (carousel_is_over(sender->sessions[i]->carousel, now)) {
			end_session(sender, i);
		} else {
			first = next < first ? next : first;
			i++;
		}
	}
	return first;
}

static void serve(struct sender *sender) {
	struct pollfd wait = {.fd = sender->fd, .events = POLLIN};

	sender->last_need = clock_now();
	while (sender->count > 0 || clock_now() - sender->last_need < 60 * SECOND) {
		int64_t now = clock_now(), pause;
		take_requests(sender, now);
		pause = send_all(sender, now) - clock_now();
		sender_tell(sender, now);
		pause = pause > 0 ? pause : 0;
		(void)ppoll(&wait, 1, &(struct timespec){pause / SECOND, pause % SECOND}, NULL);
	}
}

static int open_sender(struct sender *sender, const struct operands *operands, struct fault *fault) {
	const char *folder = operands_get(operands, "folder");
	const char *secret = operands_get(operands, "secret"), *activated = getenv("LISTEN_FDS");
	int r = secret ? file_read(secret, SECRET_MAX, &sender->secret, NULL) : 0;

	if (r < 0)
		return fault_errno(fault, CODE_FAILED, r, "%s", secret);
	sender->buffers = malloc(NEEDS_MAX * (PACKET_MAX + 1));
	for (size_t i = 0; sender->buffers && i < NEEDS_MAX; i++)
		sender->packets[i].data = sender->buffers + i * (PACKET_MAX + 1);
	sender->quota = calloc(1, sizeof(*sender->quota));
	sender->shelf = calloc(1, sizeof(*sender->shelf));
	if (!sender->buffers || !sender->quota || !sender->shelf)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "send");
	if (access(folder, R_OK | X_OK) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", folder);
	sender->shelf->folder = folder;
	sender->state = operands_get(operands, "state");
	sender->fd = ACTIVATED;
	r = activated && !strcmp(activated, "1") ? udp_adopt(ACTIVATED, fault)
		: udp_listen((uint16_t)number_of(operands, "port", SENDER_PORT, 65535), &sender->fd, fault);
	return r == 0 ? udp_limit_hops(sender->fd, (int)number_of(operands, "ttl", 1, 255), fault) : r;
}

enum exit_code verb_send(const struct operands *operands) {
	struct sender sender = {
		.cap = (uint32_t)number_of(operands, "rate", 0, RATE_MBIT_MAX) * 1000,
		.from = (uint32_t)number_of(operands, "from", 2, UINT16_MAX), .fd = -1};
	struct fault fault;
	int r = open_sender(&sender, operands, &fault);

	if (r == 0)
		serve(&sender);
	while (sender.count > 0)
		end_session(&sender, 0);
	if (sender.state)
		unlink(sender.state);
	free(sender.buffers);
	free(sender.quota);
	free(sender.shelf);
	free(sender.secret);
	cleanup_close_(&sender.fd);
	return r < 0 ? fault_print(&fault, "send") : CODE_DONE;
}
