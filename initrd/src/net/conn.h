// SPDX-License-Identifier: Apache-2.0
// One TCP connection to the server of a URL, with TLS for https. Every wait has a deadline (base/clock.h).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "net/url.h"

struct conn;

// TLS 1.2 or newer; the certificate must chain to one in the file `ca` and be valid for the URL's name or address, else
// -EKEYREJECTED. `connected` is the deadline of the TCP connection alone. `wake` (net/socket.h) ends any wait.
int conn_open(const struct url *url, const char *ca, int wake, int64_t connected, int64_t deadline, struct conn **ret,
	      struct fault *fault);

// Reads at least one byte; sets *ret_size to 0 if the server closed the connection.
int conn_read(struct conn *conn, void *data, size_t size, int64_t deadline, size_t *ret_size, struct fault *fault);
int conn_write(struct conn *conn, const void *data, size_t size, int64_t deadline, struct fault *fault);
void conn_close(struct conn **conn); // for cleanup_with; *conn may be NULL

// Returns true if the server closed the connection or sent something unexpected, so it cannot be reused.
bool conn_is_stale(struct conn *conn);
