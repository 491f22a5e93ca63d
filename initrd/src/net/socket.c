// SPDX-License-Identifier: Apache-2.0
#include "net/socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/clock.h"

int socket_wait(int fd, short events, int wake, int64_t deadline, const char *what, struct fault *fault) {
	struct pollfd wait[] = {{.fd = fd, .events = events}, {.fd = wake, .events = POLLIN}};

	for (;;) {
		int n = poll(wait, wake ? 2 : 1, clock_poll_timeout(deadline));
		if (n > 0 && wait[1].revents)
			return fault_errno(fault, CODE_NETWORK, ECANCELED, "%s", what);
		if (n > 0)
			return 0;
		if (n == 0)
			return fault_errno(fault, CODE_NETWORK, ETIMEDOUT, "%s", what);
		if (errno != EINTR)
			return fault_errno(fault, CODE_NETWORK, errno, "%s", what);
	}
}

// A server that is gone without a word is noticed within 6 seconds, also while its answer is awaited.
static void keep_alive(int fd) {
	const int on = 1, idle = 3, pause = 1, tries = 3;

	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &pause, sizeof(pause));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof(tries));
}

static int connect_to(const struct addrinfo *address, int wake, int64_t deadline, int *ret, struct fault *fault) {
	cleanup_close int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int on = 1;
	int error = 0, r;
	socklen_t size = sizeof(error);

	if (fd < 0)
		return fault_errno(fault, CODE_NETWORK, errno, "socket");
	if (connect(fd, address->ai_addr, address->ai_addrlen) < 0) {
		if (errno != EINPROGRESS)
			return fault_errno(fault, CODE_NETWORK, errno, "connect");
		if ((r = socket_wait(fd, POLLOUT, wake, deadline, "connect", fault)) < 0)
			return r;
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
			error = errno;
		if (error)
			return fault_errno(fault, CODE_NETWORK, error, "connect");
	}
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	keep_alive(fd);
	*ret = steal_fd(&fd);
	return 0;
}

// Only a name is resolved, not an address; the resolver gets the timeout of a connection.
static int resolve(const struct url *url, struct addrinfo **ret, struct fault *fault) {
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
	char port[8];
	int r;

	snprintf(port, sizeof(port), "%u", url->port);
	r = getaddrinfo(url->host, port, &hints, ret);
	if (r == EAI_NONAME) {
		setenv("RES_OPTIONS", "timeout:2 attempts:2", 0);
		hints.ai_flags = AI_NUMERICSERV;
		r = getaddrinfo(url->host, port, &hints, ret);
	}
	return r ? fault_set(fault, CODE_NETWORK, "%s: %s", url->host, gai_strerror(r)) : 0;
}

int socket_connect(const struct url *url, int wake, int64_t deadline, int *ret, struct fault *fault) {
	struct addrinfo *addresses = NULL;
	int r = resolve(url, &addresses, fault);

	if (r < 0)
		return r;
	r = fault_set(fault, CODE_NETWORK, "%s has no address", url->host);
	for (struct addrinfo *a = addresses; a && r < 0 && r != -ECANCELED; a = a->ai_next)
		r = connect_to(a, wake, deadline, ret, fault);
	freeaddrinfo(addresses);
	return r;
}
