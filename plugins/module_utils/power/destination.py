# SPDX-License-Identifier: Apache-2.0
"""Where a password may be sent: the address of a BMC may come from sledd, where others declare it."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def networks_of(texts: Iterable[str]) -> list[Network]:
    """The networks that are allowed. Raises ValueError, which names the text."""
    try:
        return [ipaddress.ip_network(text) for text in texts]
    except ValueError as error:
        raise ValueError(f"power_networks: {error}: want networks such as 10.30.0.0/24") from None


def addresses_of(name: str) -> list[str]:
    """The IP addresses of a name or an address. Raises OSError."""
    return list(dict.fromkeys(str(found[4][0]) for found in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)))


def allowed(addresses: Iterable[str], networks: Iterable[Network]) -> str:
    """The first address in one of the networks; empty: none is."""
    networks = list(networks)
    inside = (one for one in addresses if any(ipaddress.ip_address(one) in network for network in networks))
    return next(inside, "")
