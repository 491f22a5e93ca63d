// SPDX-License-Identifier: Apache-2.0
// One TCP connection to the place of a URL, with TLS for https. Nothing waits past its deadline (base/clock.h).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "net/url.h"

struct conn;

// TLS 1.2 or newer; the certificate must chain to one in file `ca` and be for the URL's name or address:
// -EKEYREJECTED when it does not. `wake`: see net/socket.h; it is for all of the connection's waits.
int conn_open(const struct url *url, const char *ca, int wake, int64_t deadline, struct conn **ret,
	      struct fault *fault);

// At least one byte; *ret_size 0: the other side has closed.
int conn_read(struct conn *conn, void *data, size_t size, int64_t deadline, size_t *ret_size, struct fault *fault);
int conn_write(struct conn *conn, const void *data, size_t size, int64_t deadline, struct fault *fault);
void conn_close(struct conn **conn); // for cleanup_with; *conn may be NULL

// The other side has closed it or said something unasked: not to be used again.
bool conn_is_stale(struct conn *conn);
