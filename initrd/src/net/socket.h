// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/fault.h"
#include "net/url.h"

// `wake` is an eventfd with which another thread ends a wait (0: none): once it is readable, the wait ends with
// -ECANCELED.

// Connects to one of the addresses of the URL's host, in the resolver's order. The socket is non-blocking.
int socket_connect(const struct url *url, int wake, int64_t deadline, int *ret, struct fault *fault);

// Waits for `events` (poll); with fd -1 only for the deadline. Returns an error of code 6 if the deadline passes
// first.
int socket_wait(int fd, short events, int wake, int64_t deadline, const char *what, struct fault *fault);
