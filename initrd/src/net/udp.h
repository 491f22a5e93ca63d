// SPDX-License-Identifier: Apache-2.0
// UDP over IPv4: multicast groups, and packets of one size in batches.
#pragma once

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

// A socket on that port of every address, which learns by what interface a packet came.
int udp_listen(uint16_t port, int *ret, struct fault *fault);
int udp_adopt(int fd, struct fault *fault); // makes the same of an open socket

// A socket for packets to and from that address alone. *ret_local: the address of this machine that they leave from.
int udp_connect(const struct sockaddr_in *to, struct in_addr *ret_local, int *ret, struct fault *fault);

// A socket that gets what is sent to the group on the interface with that address.
int udp_join(const struct sockaddr_in *group, struct in_addr local, int *ret, struct fault *fault);

struct udp_packet {
	struct sockaddr_in from;
	int interface; // index; 0: unknown
	size_t size;
	uint8_t *data;
};

// Receives up to `count` packets that are there, of at most `room` bytes each; longer ones are cut. Returns how many.
size_t udp_receive(int fd, struct udp_packet *packets, size_t count, size_t room);

// Sends `count` packets of `size` bytes each by that interface (0: as routed), at once if the kernel can. What does
// not fit into the queue of the interface is lost, as on the wire. Returns an error of code 6 if the kernel refuses
// them for another reason.
int udp_send(int fd, const struct sockaddr_in *to, int interface, const uint8_t *data, size_t size, size_t count,
	     struct fault *fault);

int udp_limit_hops(int fd, int hops, struct fault *fault); // of packets to groups
