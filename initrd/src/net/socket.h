// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/fault.h"
#include "net/url.h"

// An eventfd that ends a wait from another thread is called `wake` (0: none): the wait ends with -ECANCELED once it can
// be read.

// Connects to one of the addresses of the URL's host, in the resolver's order. The socket does not block.
int socket_connect(const struct url *url, int wake, int64_t deadline, int *ret, struct fault *fault);

// Waits until `events` (poll); with fd -1 only for the deadline. Code 6 when the deadline passes first.
int socket_wait(int fd, short events, int wake, int64_t deadline, const char *what, struct fault *fault);
