// SPDX-License-Identifier: Apache-2.0
// Which of the servers is asked, and when: known to all streams of a source.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "image/stream.h"

#define RETRY_AFTER_MAX 60u // seconds; a server that asks for more is asked again sooner

static bool is_better(const struct server *a, const struct server *b, int64_t now) {
	if (a->standing != b->standing)
		return a->standing < b->standing;
	return b->not_before > now && a->not_before < b->not_before;
}

static int refuse_all(const struct source *source, struct fault *fault) {
	size_t n = 0;

	fault->code = CODE_NETWORK;
	for (size_t i = 0; i < source->urls->count && n < sizeof(fault->text); i++)
		n += (size_t)snprintf(fault->text + n, sizeof(fault->text) - n, "%s%s", i ? "; " : "", source->servers[i].said);
	return -ENETUNREACH;
}

int server_choose(struct source *source, struct choice *choice, struct fault *fault) {
	unsigned count = (unsigned)source->urls->count, best = choice->server;
	int64_t now = clock_now();
	int r = 0;

	pthread_mutex_lock(&source->lock);
	for (unsigned i = 1; i < count; i++) {
		unsigned other = (choice->server + i) % count;
		if (is_better(&source->servers[other], &source->servers[best], now))
			best = other;
	}
	if (source->servers[best].standing == SERVER_REFUSED)
		r = refuse_all(source, fault);
	*choice = (struct choice){best, source->servers[best].standing, source->servers[best].not_before};
	pthread_mutex_unlock(&source->lock);
	return r;
}

int server_give_up(struct source *source, unsigned at, struct fault *fault) {
	int r;

	pthread_mutex_lock(&source->lock);
	r = fault_set(fault, CODE_NETWORK, "no byte within %llu seconds; %s", (unsigned long long)(source->idle_ns / SECOND),
		      source->servers[at].said);
	pthread_mutex_unlock(&source->lock);
	return r;
}

void server_works(struct source *source, unsigned at) {
	pthread_mutex_lock(&source->lock);
	source->servers[at].backoff.next = 0;
	source->servers[at].not_before = 0;
	pthread_mutex_unlock(&source->lock);
}

// The pause that follows. A stream that was cut along with others finds it already made.
static int64_t pause_after(struct server *server, const struct head *head, int64_t now) {
	int64_t pause = server->not_before > now ? server->not_before - now : backoff_next(&server->backoff);
	int64_t asked = head->has_retry ? (head->retry_after < RETRY_AFTER_MAX ? head->retry_after : RETRY_AFTER_MAX) * SECOND : 0;

	return asked > pause ? asked : pause;
}

void server_failed(struct source *source, unsigned at, const struct head *head, enum standing standing, const struct fault *fault) {
	struct server *server = &source->servers[at];
	int64_t now = clock_now();

	pthread_mutex_lock(&source->lock);
	snprintf(server->said, sizeof(server->said), "%s", fault->text);
	if (standing > server->standing)
		server->standing = standing;
	server->not_before = standing == SERVER_GOOD ? now + pause_after(server, head, now) : now;
	pthread_mutex_unlock(&source->lock);
}
