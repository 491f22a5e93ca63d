// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/fault.h"
#include "net/url.h"

// Connects to one of the addresses of the URL's host, in the resolver's order. The socket does not block.
int socket_connect(const struct url *url, int64_t deadline, int *ret, struct fault *fault);

// Waits until `events` (poll). Code 6 when the deadline passes first.
int socket_wait(int fd, short events, int64_t deadline, const char *what, struct fault *fault);
