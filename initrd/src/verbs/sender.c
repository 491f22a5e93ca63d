// SPDX-License-Identifier: Apache-2.0
#include "verbs/sender.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/operand.h"

#define STATES SECOND // between two versions of the file

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

static void add_session(struct text *text, const struct sending *s) {
	const struct carousel *carousel = s->carousel;
	char digest[2 * HASH + 1], interface[IF_NAMESIZE] = "";

	for (size_t i = 0; i < HASH; i++)
		snprintf(digest + 2 * i, 3, "%02x", carousel->order.digest[i]);
	text_adds(text, "session");
	operand_write(text, "image", opened_name(&s->opened));
	operand_write(text, "digest", digest);
	if (s->interface > 0 && if_indextoname((unsigned)s->interface, interface))
		operand_write(text, "interface", interface);
	operand_write(text, "group", inet_ntoa(s->group.sin_addr));
	add_number(text, "sending", carousel_is_sending(carousel));
	add_number(text, "receivers", carousel->crowd.present);
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

void sender_tell(struct sender *sender, int64_t now) {
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
