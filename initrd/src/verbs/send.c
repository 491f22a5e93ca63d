// SPDX-License-Identifier: Apache-2.0
// Sends the images of a folder to all nodes that request them (contract/multicast.md, "Sender").
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "sender/sender.h"
#include "verbs/verbs.h"

#define SECRET_MAX 4096u // bytes
#define RATE_MBIT_MAX 100000u
#define ACTIVATED 3 // the socket that systemd passes

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
	sender->folder = calloc(1, sizeof(*sender->folder));
	if (!sender->buffers || !sender->quota || !sender->folder)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "send");
	if (access(folder, R_OK | X_OK) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", folder);
	sender->folder->path = folder;
	sender->state = operands_get(operands, "state");
	sender->fd = ACTIVATED;
	r = activated && !strcmp(activated, "1")
		    ? udp_adopt(ACTIVATED, fault)
		    : udp_listen((uint16_t)number_of(operands, "port", SENDER_PORT, 65535), &sender->fd, fault);
	return r == 0 ? udp_limit_hops(sender->fd, (int)number_of(operands, "ttl", 1, 255), fault) : r;
}

enum exit_code verb_send(const struct operands *operands) {
	struct sender sender = {.cap = (uint32_t)number_of(operands, "rate", 0, RATE_MBIT_MAX) * 1000,
				.from = (uint32_t)number_of(operands, "from", 2, UINT16_MAX),
				.fd = -1};
	struct fault fault;
	int r = open_sender(&sender, operands, &fault);

	if (r == 0)
		sender_serve(&sender);
	sender_close(&sender);
	return r < 0 ? fault_print(&fault, "send") : CODE_DONE;
}
