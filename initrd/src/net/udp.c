// SPDX-License-Identifier: Apache-2.0
#include "net/udp.h"

#include <errno.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"

#define RECEIVE_ROOM (8 << 20) // bytes that the kernel holds for a receiver
#define MESSAGES_MAX 64u

static int fail(struct fault *fault, const char *what) { return fault_errno(fault, CODE_NETWORK, errno, "%s", what); }

static int udp_open(int *ret, struct fault *fault) {
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int room = RECEIVE_ROOM;

	if (fd < 0)
		return fail(fault, "socket");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	*ret = fd;
	return 0;
}

int udp_adopt(int fd, struct fault *fault) {
	const int on = 1;
	return setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on)) < 0 ? fail(fault, "socket") : 0;
}

int udp_listen(uint16_t port, int *ret, struct fault *fault) {
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(port)};
	cleanup_close int fd = -1;
	int r = udp_open(&fd, fault);

	if (r == 0 && bind(fd, (const struct sockaddr *)&any, sizeof(any)) < 0)
		r = fault_errno(fault, CODE_NETWORK, errno, "UDP port %u", port);
	if (r == 0)
		r = udp_adopt(fd, fault);
	if (r == 0)
		*ret = steal_fd(&fd);
	return r;
}

int udp_connect(const struct sockaddr_in *to, struct in_addr *ret_local, int *ret, struct fault *fault) {
	struct sockaddr_in local = {0};
	socklen_t size = sizeof(local);
	cleanup_close int fd = -1;
	int r = udp_open(&fd, fault);

	if (r == 0 && (connect(fd, (const struct sockaddr *)to, sizeof(*to)) < 0 ||
		       getsockname(fd, (struct sockaddr *)&local, &size) < 0))
		r = fail(fault, "connect");
	if (r == 0) {
		*ret_local = local.sin_addr;
		*ret = steal_fd(&fd);
	}
	return r;
}

int udp_join(const struct sockaddr_in *group, struct in_addr local, int *ret, struct fault *fault) {
	struct ip_mreqn member = {.imr_multiaddr = group->sin_addr, .imr_address = local};
	const int on = 1, off = 0;
	cleanup_close int fd = -1;
	int r = udp_open(&fd, fault);

	if (r < 0)
		return r;
	// Several images are at the same port; IP_MULTICAST_ALL keeps those of other groups away.
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    setsockopt(fd, IPPROTO_IP, IP_MULTICAST_ALL, &off, sizeof(off)) < 0 ||
	    bind(fd, (const struct sockaddr *)group, sizeof(*group)) < 0 ||
	    setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &member, sizeof(member)) < 0)
		return fail(fault, "joining the multicast group");
	*ret = steal_fd(&fd);
	return 0;
}

static int interface_of(struct msghdr *message) {
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		struct in_pktinfo info;
		if (c->cmsg_level != IPPROTO_IP || c->cmsg_type != IP_PKTINFO)
			continue;
		memcpy(&info, CMSG_DATA(c), sizeof(info));
		return info.ipi_ifindex;
	}
	return 0;
}

size_t udp_receive(int fd, struct udp_packet *packets, size_t count, size_t room) {
	union {
		struct cmsghdr aligned;
		uint8_t bytes[CMSG_SPACE(sizeof(struct in_pktinfo))];
	} controls[MESSAGES_MAX];
	struct mmsghdr messages[MESSAGES_MAX] = {0};
	struct iovec parts[MESSAGES_MAX];
	int n;

	count = count < MESSAGES_MAX ? count : MESSAGES_MAX;
	for (size_t i = 0; i < count; i++) {
		parts[i] = (struct iovec){packets[i].data, room};
		messages[i].msg_hdr = (struct msghdr){.msg_name = &packets[i].from,
						      .msg_namelen = sizeof(packets[i].from),
						      .msg_iov = &parts[i],
						      .msg_iovlen = 1,
						      .msg_control = &controls[i],
						      .msg_controllen = sizeof(controls[i])};
	}
	n = recvmmsg(fd, messages, (unsigned)count, MSG_DONTWAIT, NULL);
	for (int i = 0; i < n; i++) {
		packets[i].size = messages[i].msg_len;
		packets[i].interface = interface_of(&messages[i].msg_hdr);
	}
	return n > 0 ? (size_t)n : 0;
}

// UDP_SEGMENT: the kernel or the network card cuts the bytes into packets of `segment`; 0: they are one packet.
static ssize_t send_bytes(int fd, const struct sockaddr_in *to, int interface, const uint8_t *data, size_t size,
			  uint16_t segment) {
	union {
		struct cmsghdr aligned;
		uint8_t bytes[CMSG_SPACE(sizeof(struct in_pktinfo)) + CMSG_SPACE(sizeof(uint16_t))];
	} control = {0};
	struct in_pktinfo info = {.ipi_ifindex = interface};
	struct iovec part = {(void *)(uintptr_t)data, size};
	struct msghdr message = {.msg_name = (void *)(uintptr_t)to,
				 .msg_namelen = sizeof(*to),
				 .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = segment ? sizeof(control) : CMSG_SPACE(sizeof(info))};
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);

	*c = (struct cmsghdr){.cmsg_level = IPPROTO_IP, .cmsg_type = IP_PKTINFO, .cmsg_len = CMSG_LEN(sizeof(info))};
	memcpy(CMSG_DATA(c), &info, sizeof(info));
	if (segment) {
		c = CMSG_NXTHDR(&message, c);
		*c = (struct cmsghdr){
			.cmsg_level = SOL_UDP, .cmsg_type = UDP_SEGMENT, .cmsg_len = CMSG_LEN(sizeof(segment))};
		memcpy(CMSG_DATA(c), &segment, sizeof(segment));
	}
	return sendmsg(fd, &message, MSG_DONTWAIT);
}

static bool is_full(int error) { return error == EAGAIN || error == ENOBUFS; }

int udp_send(int fd, const struct sockaddr_in *to, int interface, const uint8_t *data, size_t size, size_t count,
	     struct fault *fault) {
	if (count > 1 && send_bytes(fd, to, interface, data, size * count, (uint16_t)size) >= 0)
		return 0;
	if (count > 1 && is_full(errno))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (send_bytes(fd, to, interface, data + i * size, size, 0) < 0 && !is_full(errno))
			return fail(fault, "sending packets");
	return 0;
}

int udp_limit_hops(int fd, int hops, struct fault *fault) {
	return setsockopt(fd, IPPROTO_IP, IP_MULTICAST_TTL, &hops, sizeof(hops)) < 0 ? fail(fault, "ttl") : 0;
}
