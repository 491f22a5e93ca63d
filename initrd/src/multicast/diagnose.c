// SPDX-License-Identifier: Apache-2.0
#include "multicast/diagnose.h"

#include <stdio.h>

#define LOSS_BAD 2u // percent

static const char *silent(const struct sighting *seen) {
	if (seen->closed)
		return "nothing listens on the sender's port: start sledc send, or correct the port";
	if (!seen->answered)
		return "no answer: a firewall drops UDP to or from the sender's port, the sender has no image of that "
		       "digest, or the key is another one";
	if (seen->alone)
		return "the sender does not send to so few nodes: its operand from is larger than 16";
	if (seen->on_wire)
		return "packets to the group reach this node, and its firewall or reverse path filter drops them: "
		       "open UDP port 7000 to 239.192.0.0/14";
	if (seen->routed)
		return "no packet to the group arrives, and a router is in between: raise ttl of the sender and route "
		       "multicast, or run a sender in this network";
	if (!seen->querier)
		return "no packet to the group arrives, and no querier was heard: switch IGMP snooping off or a "
		       "querier on, or a firewall drops UDP port 7000 at the sender";
	return "no packet to the group arrives, though there is a querier: the switch or a firewall drops multicast to "
	       "239.192.0.0/14, or the port is in another VLAN";
}

bool diagnose(const struct sighting *seen, char *ret, size_t room) {
	bool works = seen->packets > 0;

	if (!works)
		snprintf(ret, room, "multicast does not work: %s", silent(seen));
	else if (seen->lost * 100 > (seen->lost + seen->packets) * LOSS_BAD)
		snprintf(ret, room,
			 "multicast works, but packets are lost: lower rate of the sender, or look for a "
			 "slow link or a switch with small buffers");
	else if (!seen->querier && !seen->routed)
		snprintf(ret, room,
			 "multicast works; no querier was heard: without one a switch with IGMP snooping "
			 "forgets the group after some minutes");
	else
		snprintf(ret, room, "multicast works");
	return works;
}
