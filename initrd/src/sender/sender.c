// SPDX-License-Identifier: Apache-2.0
#include "sender/sender.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/operand.h"

#define STATES SECOND	      // between two versions of the file
#define NEEDS_OF_ADDRESS 100u // in a second

static void add_number(struct text *text, const char *key, uint64_t number) {
	text_addf(text, " %s=%llu", key, (unsigned long long)number);
}

static void add_sender(struct text *text, const struct sender *sender) {
	text_adds(text, "sender");
	add_number(text, "rate", sender->cap);
	add_number(text, "from", sender->from);
	add_number(text, "limited", sender->limited);
	for (int i = REFUSED_SIZE; i < REFUSALS; i++) {
		text_adds(text, " refused_");
		text_addf(text, "%s=%llu", refusal_name((enum packet_refusal)i),
			  (unsigned long long)sender->refused[i]);
	}
	text_adds(text, "\n");
}

static void add_session(struct text *text, const struct transmission *s) {
	const struct carousel *carousel = s->carousel;
	char digest[2 * HASH + 1], interface[IF_NAMESIZE] = "";

	for (size_t i = 0; i < HASH; i++)
		snprintf(digest + 2 * i, 3, "%02x", carousel->order.digest[i]);
	text_adds(text, "session");
	operand_write(text, "image", image_file_name(&s->file));
	operand_write(text, "digest", digest);
	if (s->interface > 0 && if_indextoname((unsigned)s->interface, interface))
		operand_write(text, "interface", interface);
	operand_write(text, "group", inet_ntoa(s->group.sin_addr));
	add_number(text, "sending", carousel_is_sending(carousel));
	add_number(text, "receivers", carousel->clients.present);
	add_number(text, "rate", carousel->rate);
	add_number(text, "symbols", s->symbols);
	add_number(text, "data", carousel->counts.data);
	add_number(text, "repairs", carousel->counts.repairs);
	add_number(text, "needs", carousel->counts.needs);
	add_number(text, "done", s->done);
	add_number(text, "rejected", s->rejected);
	add_number(text, "multicast", s->multicast_bytes);
	add_number(text, "http", s->http_bytes);
	text_adds(text, "\n");
}

static void write_state(struct sender *sender, int64_t now) {
	cleanup_with(text_free) struct text text = {0};
	struct fault fault;
	int r;

	if (!sender->state || now < sender->next_state)
		return;
	sender->next_state = now + STATES;
	add_sender(&text, sender);
	for (uint32_t i = 0; i < sender->count; i++)
		add_session(&text, sender->sessions[i]);
	r = text.failed ? 0 : file_write_atomic(sender->state, 0644, text_string(&text), text.size);
	if (r == 0)
		return;
	fault_errno(&fault, CODE_FAILED, r, "%s", sender->state);
	fault_print(&fault, "send");
	sender->state = NULL;
}

static struct transmission *find_session(struct sender *sender, const uint8_t *id, int interface) {
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
static struct transmission *start_session(struct sender *sender, const uint8_t *id, int interface, int64_t now) {
	struct image_file file;
	struct transmission *sending = NULL;
	struct fault fault;

	if (sender->count == SESSIONS_MAX || !image_folder_find(sender->folder, id, now, &file))
		return NULL;
	if (transmission_open(&file, interface, sender->cap, sender->from, sender->secret, &sending, &fault) < 0) {
		fault_print(&fault, "send");
		image_file_close(&file);
		return NULL;
	}
	sender->sessions[sender->count++] = sending;
	printf("send: %s starts\n", image_file_name(&sending->file));
	fflush(stdout);
	return sending;
}

static void answer_need(struct sender *sender, struct transmission *sending, const struct packet *need,
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
	struct transmission *sending = id ? find_session(sender, id, from->interface) : NULL;
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
		transmission_note(sending, &packet.stats);
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
	       image_file_name(&sender->sessions[i]->file), (unsigned long long)counts.data,
	       (unsigned long long)counts.repairs, (unsigned long long)counts.needs);
	fflush(stdout);
	transmission_close(&sender->sessions[i]);
	sender->sessions[i] = sender->sessions[--sender->count];
}

// Returns when the next packet is due.
static int64_t send_all(struct sender *sender, int64_t now) {
	int64_t first = now + SECOND;

	share_cap(sender);
	for (uint32_t i = 0; i < sender->count;) {
		struct fault fault;
		int64_t next;
		if (transmission_step(sender->sessions[i], sender->fd, now, &next, &fault) < 0) {
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

void sender_serve(struct sender *sender) {
	struct pollfd wait = {.fd = sender->fd, .events = POLLIN};

	sender->last_need = clock_now();
	while (sender->count > 0 || clock_now() - sender->last_need < 60 * SECOND) {
		int64_t now = clock_now(), pause;
		take_requests(sender, now);
		pause = send_all(sender, now) - clock_now();
		write_state(sender, now);
		pause = pause > 0 ? pause : 0;
		(void)ppoll(&wait, 1, &(struct timespec){pause / SECOND, pause % SECOND}, NULL);
	}
}

void sender_close(struct sender *sender) {
	while (sender->count > 0)
		end_session(sender, 0);
	if (sender->state)
		unlink(sender->state);
	free(sender->buffers);
	free(sender->quota);
	free(sender->folder);
	free(sender->secret);
	cleanup_close_(&sender->fd);
}
