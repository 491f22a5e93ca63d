// SPDX-License-Identifier: Apache-2.0
// Chooses the server for the next request, and when it is sent. Shared by all streams of a source, in any thread.
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/fault.h"
#include "net/http.h"
#include "net/url.h"

// The state of a server, for all streams.
enum standing {
	SERVER_GOOD,
	SERVER_RANGELESS, // sends the whole file instead of ranges: used only if there is no other
	SERVER_REFUSED,	  // its refusal is final
};

struct server {
	enum standing standing;
	int64_t not_before; // no request before that time
	struct backoff backoff;
	char said[256]; // its last error, with its URL
};

struct servers {
	const struct urls *urls; // which must outlive this
	pthread_mutex_t lock;	 // for the fields below
	struct server items[URLS_MAX];
};

struct choice {
	unsigned server;
	enum standing standing;
	int64_t when; // time of the next request
};

void servers_init(struct servers *servers, const struct urls *urls);
void servers_free(struct servers *servers);

// Chooses the next server: the same again, unless another is better. Returns an error of code 6, with the error of
// each, if none is left.
int server_choose(struct servers *servers, struct choice *choice, struct fault *fault);
int server_give_up(struct servers *servers, unsigned at, int64_t idle_ns, struct fault *fault);
void server_works(struct servers *servers, unsigned at);
void server_failed(struct servers *servers, unsigned at, const struct head *head, enum standing standing,
		   const struct fault *fault);
