// SPDX-License-Identifier: Apache-2.0
#include "net/sniff.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/igmp.h>
#include <netinet/ip.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

#define LOOKED_AT 64u // bytes of a packet; the header of IP has at most 60

// 0: no interface has that address.
static unsigned interface_of(struct in_addr local) {
	struct ifaddrs *all = NULL;
	unsigned found = 0;

	if (getifaddrs(&all) < 0)
		return 0;
	for (const struct ifaddrs *one = all; one && found == 0; one = one->ifa_next) {
		struct sockaddr_in address;
		if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET)
			continue;
		memcpy(&address, one->ifa_addr, sizeof(address));
		if (address.sin_addr.s_addr == local.s_addr)
			found = if_nametoindex(one->ifa_name);
	}
	freeifaddrs(all);
	return found;
}

int sniff_open(struct in_addr local, struct sniff *ret, struct fault *fault) {
	struct sockaddr_ll from = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP), .sll_ifindex = (int)interface_of(local)};
	// also what the network card would leave out after the group was left
	struct packet_mreq all = {.mr_ifindex = from.sll_ifindex, .mr_type = PACKET_MR_ALLMULTI};
	cleanup_close int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_IP));

	*ret = (struct sniff){.fd = -1};
	if (fd < 0 || bind(fd, (const struct sockaddr *)&from, sizeof(from)) < 0 ||
	    setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof(all)) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "watching the interface");
	ret->fd = steal_fd(&fd);
	return 0;
}

void sniff_close(struct sniff *sniff) { cleanup_close_(&sniff->fd); }

bool sniff_sees(const uint8_t *packet, size_t size, struct in_addr group, struct sniff *ret) {
	struct iphdr ip;
	size_t head;

	if (size < sizeof(ip))
		return false;
	memcpy(&ip, packet, sizeof(ip));
	head = (size_t)ip.ihl * 4;
	if (ip.version != 4 || head < sizeof(ip))
		return false;
	if (ip.protocol == IPPROTO_UDP && ip.daddr == group.s_addr)
		return ret->udp = true;
	if (ip.protocol == IPPROTO_IGMP && head < size && packet[head] == IGMP_MEMBERSHIP_QUERY)
		return ret->query = true;
	return false;
}

void sniff_look(struct sniff *sniff, struct in_addr group) {
	uint8_t packet[LOOKED_AT];
	struct sockaddr_ll from;
	socklen_t size = sizeof(from);
	ssize_t n;

	while (sniff->fd >= 0 &&
	       (n = recvfrom(sniff->fd, packet, sizeof(packet), MSG_DONTWAIT, (struct sockaddr *)&from, &size)) >= 0) {
		if (from.sll_pkttype != PACKET_OUTGOING)
			(void)sniff_sees(packet, (size_t)n, group, sniff);
		size = sizeof(from);
	}
}
