// SPDX-License-Identifier: Apache-2.0
// Which of the servers is asked, and when: known to all streams of a source, in any thread.
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/fault.h"
#include "net/http.h"
#include "net/url.h"

// How a server is used, by all streams.
enum standing {
	SERVER_GOOD,
	SERVER_RANGELESS, // it answers with the whole file: only when there is no other
	SERVER_REFUSED,	  // another try will not change what it said
};

struct server {
	enum standing standing;
	int64_t not_before; // when it may be asked again
	struct backoff backoff;
	char said[256]; // last, with its URL, when that was no file
};

struct servers {
	const struct urls *urls; // which must outlive this
	pthread_mutex_t lock;	 // for what follows
	struct server items[URLS_MAX];
};

struct choice {
	unsigned server;
	enum standing standing;
	int64_t when; // it may be asked
};

void servers_init(struct servers *servers, const struct urls *urls);
void servers_free(struct servers *servers);

// The server to ask next: the same again, unless another is better. Code 6, with what each of them said: none is left.
int server_choose(struct servers *servers, struct choice *choice, struct fault *fault);
int server_give_up(struct servers *servers, unsigned at, int64_t idle_ns, struct fault *fault);
void server_works(struct servers *servers, unsigned at);
void server_failed(struct servers *servers, unsigned at, const struct head *head, enum standing standing,
		   const struct fault *fault);
