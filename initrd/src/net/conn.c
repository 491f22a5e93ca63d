// SPDX-License-Identifier: Apache-2.0
#include "net/conn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "net/socket.h"

struct conn {
	int fd, wake;
	SSL_CTX *context; // NULL without TLS, like tls
	SSL *tls;
};

static int tls_fault(struct fault *fault, const char *what) {
	unsigned long error = ERR_get_error();
	const char *reason = error ? ERR_reason_error_string(error) : NULL;

	ERR_clear_error();
	return fault_set(fault, CODE_NETWORK, "%s: %s", what, reason ? reason : "the server closed the connection");
}

// After an SSL call: 0: call it again, the socket is ready now.
static int tls_wait(struct conn *conn, int result, int64_t deadline, const char *what, struct fault *fault) {
	int error = SSL_get_error(conn->tls, result), saved = errno;

	if (error == SSL_ERROR_WANT_READ)
		return socket_wait(conn->fd, POLLIN, conn->wake, deadline, what, fault);
	if (error == SSL_ERROR_WANT_WRITE)
		return socket_wait(conn->fd, POLLOUT, conn->wake, deadline, what, fault);
	if (error == SSL_ERROR_SYSCALL && saved)
		return fault_errno(fault, CODE_NETWORK, saved, "%s", what);
	return tls_fault(fault, what);
}

static int tls_identity(struct conn *conn, const struct url *url, struct fault *fault) {
	unsigned char address[16];
	bool numeric = inet_pton(AF_INET, url->host, address) == 1 || inet_pton(AF_INET6, url->host, address) == 1;
	X509_VERIFY_PARAM *verify = SSL_get0_param(conn->tls);

	if (numeric ? !X509_VERIFY_PARAM_set1_ip_asc(verify, url->host)
		    : !X509_VERIFY_PARAM_set1_host(verify, url->host, 0) ||
			      !SSL_set_tlsext_host_name(conn->tls, url->host))
		return tls_fault(fault, "TLS");
	return 0;
}

static int tls_handshake(struct conn *conn, int64_t deadline, struct fault *fault) {
	int n, r;

	while (ERR_clear_error(), (n = SSL_connect(conn->tls)) != 1) {
		long verdict = SSL_get_verify_result(conn->tls);
		if (verdict != X509_V_OK) {
			fault_set(fault, CODE_NETWORK, "certificate refused: %s",
				  X509_verify_cert_error_string(verdict));
			return -EKEYREJECTED;
		}
		if ((r = tls_wait(conn, n, deadline, "TLS handshake", fault)) < 0)
			return r;
	}
	return 0;
}

static int tls_open(struct conn *conn, const struct url *url, const char *ca, int64_t deadline, struct fault *fault) {
	int r;

	OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
	if (!(conn->context = SSL_CTX_new(TLS_client_method())) ||
	    !SSL_CTX_set_min_proto_version(conn->context, TLS1_2_VERSION))
		return tls_fault(fault, "TLS");
	if (!SSL_CTX_load_verify_file(conn->context, ca))
		return tls_fault(fault, ca);
	SSL_CTX_set_verify(conn->context, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_mode(conn->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	if (!(conn->tls = SSL_new(conn->context)) || !SSL_set_fd(conn->tls, conn->fd))
		return tls_fault(fault, "TLS");
	r = tls_identity(conn, url, fault);
	return r == 0 ? tls_handshake(conn, deadline, fault) : r;
}

int conn_open(const struct url *url, const char *ca, int wake, int64_t connected, int64_t deadline, struct conn **ret,
	      struct fault *fault) {
	cleanup_with(conn_close) struct conn *conn = calloc(1, sizeof(*conn));
	int r;

	if (!conn)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "connection");
	conn->fd = -1;
	conn->wake = wake;
	r = socket_connect(url, wake, connected, &conn->fd, fault);
	if (r == 0 && url->scheme == SCHEME_HTTPS)
		r = tls_open(conn, url, ca, deadline, fault);
	if (r < 0)
		return r;
	*ret = steal_pointer(&conn);
	return 0;
}

static int plain_read(struct conn *conn, void *data, size_t size, int64_t deadline, size_t *ret_size,
		      struct fault *fault) {
	for (;;) {
		ssize_t n = recv(conn->fd, data, size, 0);
		int r;
		if (n >= 0) {
			*ret_size = (size_t)n;
			return 0;
		}
		if (errno == EAGAIN) {
			if ((r = socket_wait(conn->fd, POLLIN, conn->wake, deadline, "waiting for data", fault)) < 0)
				return r;
		} else if (errno != EINTR) {
			return fault_errno(fault, CODE_NETWORK, errno, "read");
		}
	}
}

int conn_read(struct conn *conn, void *data, size_t size, int64_t deadline, size_t *ret_size, struct fault *fault) {
	if (!conn->tls)
		return plain_read(conn, data, size, deadline, ret_size, fault);
	for (;;) {
		size_t n;
		int done, r;
		ERR_clear_error();
		done = SSL_read_ex(conn->tls, data, size, &n);
		if (done) {
			*ret_size = n;
			return 0;
		}
		if (SSL_get_error(conn->tls, done) == SSL_ERROR_ZERO_RETURN) {
			*ret_size = 0;
			return 0;
		}
		if ((r = tls_wait(conn, done, deadline, "waiting for data", fault)) < 0)
			return r;
	}
}

// One write, which may be short; 0: try again.
static ssize_t write_some(struct conn *conn, const void *data, size_t size, int64_t deadline, struct fault *fault) {
	size_t n;
	ssize_t sent;
	int done;

	if (conn->tls) {
		ERR_clear_error();
		done = SSL_write_ex(conn->tls, data, size, &n);
		return done ? (ssize_t)n : tls_wait(conn, done, deadline, "sending", fault);
	}
	sent = send(conn->fd, data, size, MSG_NOSIGNAL);
	if (sent >= 0)
		return sent;
	if (errno == EAGAIN || errno == EINTR)
		return socket_wait(conn->fd, POLLOUT, conn->wake, deadline, "sending", fault);
	return fault_errno(fault, CODE_NETWORK, errno, "sending");
}

int conn_write(struct conn *conn, const void *data, size_t size, int64_t deadline, struct fault *fault) {
	for (const char *from = data; size > 0;) {
		ssize_t n = write_some(conn, from, size, deadline, fault);
		if (n < 0)
			return (int)n;
		from += n;
		size -= (size_t)n;
	}
	return 0;
}

void conn_close(struct conn **conn) {
	if (!*conn)
		return;
	SSL_free((*conn)->tls);
	SSL_CTX_free((*conn)->context);
	if ((*conn)->fd >= 0)
		close((*conn)->fd);
	free(*conn);
	*conn = NULL;
}

bool conn_is_stale(struct conn *conn) {
	struct pollfd now = {.fd = conn->fd, .events = POLLIN};
	return poll(&now, 1, 0) != 0;
}
