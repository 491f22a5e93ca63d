// SPDX-License-Identifier: Apache-2.0
#include "source/server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PAUSE_MAX (5 * SECOND)
#define RETRY_AFTER_MAX 60u // seconds; a longer Retry-After is shortened to this

void servers_init(struct servers *servers, const struct urls *urls) {
	*servers = (struct servers){.urls = urls};
	pthread_mutex_init(&servers->lock, NULL);
	for (size_t i = 0; i < urls->count; i++)
		servers->items[i].backoff.max = PAUSE_MAX;
}

void servers_free(struct servers *servers) { pthread_mutex_destroy(&servers->lock); }

static bool is_better(const struct server *a, const struct server *b, int64_t now) {
	if (a->standing != b->standing)
		return a->standing < b->standing;
	return b->not_before > now && a->not_before < b->not_before;
}

static int refuse_all(const struct servers *servers, struct fault *fault) {
	size_t n = 0;

	fault->code = CODE_NETWORK;
	for (size_t i = 0; i < servers->urls->count && n < sizeof(fault->text); i++)
		n += (size_t)snprintf(fault->text + n, sizeof(fault->text) - n, "%s%s", i ? "; " : "",
				      servers->items[i].said);
	return -ENETUNREACH;
}

int server_choose(struct servers *servers, struct choice *choice, struct fault *fault) {
	unsigned count = (unsigned)servers->urls->count, best = choice->server;
	int64_t now = clock_now();
	int r = 0;

	pthread_mutex_lock(&servers->lock);
	for (unsigned i = 1; i < count; i++) {
		unsigned other = (choice->server + i) % count;
		if (is_better(&servers->items[other], &servers->items[best], now))
			best = other;
	}
	if (servers->items[best].standing == SERVER_REFUSED)
		r = refuse_all(servers, fault);
	*choice = (struct choice){best, servers->items[best].standing, servers->items[best].not_before};
	pthread_mutex_unlock(&servers->lock);
	return r;
}

int server_give_up(struct servers *servers, unsigned at, int64_t idle_ns, struct fault *fault) {
	int r;

	pthread_mutex_lock(&servers->lock);
	r = fault_set(fault, CODE_NETWORK, "no byte received within %llu seconds; %s",
		      (unsigned long long)(idle_ns / SECOND), servers->items[at].said);
	pthread_mutex_unlock(&servers->lock);
	return r;
}

void server_works(struct servers *servers, unsigned at) {
	pthread_mutex_lock(&servers->lock);
	servers->items[at].backoff.next = 0;
	servers->items[at].not_before = 0;
	pthread_mutex_unlock(&servers->lock);
}

// Starts the pause. If several streams are interrupted at once, only the first one does.
static int64_t pause_after(struct server *server, const struct head *head, int64_t now) {
	int64_t pause = server->not_before > now ? server->not_before - now : backoff_next(&server->backoff);
	int64_t asked = head->has_retry
				? (head->retry_after < RETRY_AFTER_MAX ? head->retry_after : RETRY_AFTER_MAX) * SECOND
				: 0;

	return asked > pause ? asked : pause;
}

void server_failed(struct servers *servers, unsigned at, const struct head *head, enum standing standing,
		   const struct fault *fault) {
	struct server *server = &servers->items[at];
	int64_t now = clock_now();

	pthread_mutex_lock(&servers->lock);
	snprintf(server->said, sizeof(server->said), "%s", fault->text);
	if (standing > server->standing)
		server->standing = standing;
	server->not_before = standing == SERVER_GOOD ? now + pause_after(server, head, now) : now;
	pthread_mutex_unlock(&servers->lock);
}
