// SPDX-License-Identifier: Apache-2.0
#include "net/export.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include "base/clock.h"

#define NAMES "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define PAUSE_MOST (10 * SECOND)

int export_parse(const char *text, char ret_host[EXPORT_HOST], struct fault *fault) {
	bool bracket = *text == '[';
	const char *host = text + bracket, *path;
	size_t size = strspn(host, bracket ? "0123456789abcdefABCDEF:." : NAMES ".-");

	path = host + size + bracket;
	if (size == 0 || size >= EXPORT_HOST || strlen(text) > EXPORT_MAX || (bracket && host[size] != ']') ||
	    strncmp(path, ":/", 2) != 0 || strspn(path + 1, NAMES "._-/") != strlen(path + 1) ||
	    strncmp(path, "://", 3) == 0 || strstr(path, "/..") != NULL)
		return fault_set(fault, CODE_USAGE,
				 "\"%.200s\" is not an NFS export: want HOST:/PATH, of A-Z a-z 0-9 . _ - /", text);
	memcpy(ret_host, host, size);
	ret_host[size] = 0;
	return 0;
}

static int resolve(const char *host, char ret[INET6_ADDRSTRLEN], struct fault *fault) {
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
	int r = getaddrinfo(host, NULL, &hints, &found);

	if (r == 0)
		r = getnameinfo(found->ai_addr, found->ai_addrlen, ret, INET6_ADDRSTRLEN, NULL, 0, NI_NUMERICHOST);
	if (found)
		freeaddrinfo(found);
	return r == 0 ? 0 : fault_set(fault, CODE_NETWORK, "%s: %s", host, gai_strerror(r));
}

static bool is_away(int error) {
	return error == ETIMEDOUT || error == ECONNREFUSED || error == ECONNRESET || error == EHOSTUNREACH ||
	       error == ENETUNREACH || error == EHOSTDOWN || error == EIO;
}

// Version 3 has no state that a server or a node could lose, and needs the smallest modules.
int export_mount(const char *text, const char *folder, int64_t deadline, struct fault *fault) {
	char host[EXPORT_HOST], address[INET6_ADDRSTRLEN], options[256];
	struct backoff backoff = {.max = PAUSE_MOST};
	int r = export_parse(text, host, fault);

	for (;;) {
		if (r == 0)
			r = resolve(host, address, fault);
		if (r == 0) {
			snprintf(options, sizeof(options),
				 "vers=3,proto=tcp,mountproto=tcp,port=2049,nolock,hard,addr=%s", address);
			if (mount(text, folder, "nfs", MS_RDONLY | MS_NODEV | MS_NOSUID | MS_NOEXEC, options) == 0)
				return 0;
			if (errno == ENODEV)
				return fault_set(fault, CODE_UNSUPPORTED,
						 "this Sled system has no NFS; that of flavour generic has it");
			r = fault_errno(fault, is_away(errno) ? CODE_NETWORK : CODE_FAILED, errno, "%s", text);
		}
		if (fault->code != CODE_NETWORK || clock_now() >= deadline)
			return r;
		clock_wait_until(clock_now() + backoff_next(&backoff));
		r = 0;
	}
}

// A mount point is found without asking the server.
int export_unmount(const char *folder, struct fault *fault) {
	if (umount2(folder, MNT_FORCE | UMOUNT_NOFOLLOW) == 0 || errno == EINVAL || errno == ENOENT)
		return 0;
	return fault_errno(fault, CODE_FAILED, errno, "%s", folder);
}

void export_interrupt(const char *folder) { (void)umount2(folder, MNT_FORCE | UMOUNT_NOFOLLOW); }
