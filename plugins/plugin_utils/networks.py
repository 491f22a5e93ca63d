# SPDX-License-Identifier: Apache-2.0
"""The networks of a site: what is wrong with the list, and what a boot server does in each.

Uses the standard library alone: `sled init` checks a range by it.
"""

from __future__ import annotations

import ipaddress
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]
Range = tuple[ipaddress.IPv4Address, ipaddress.IPv4Address]

# What only a server of addresses hands out.
SERVED = ("ranges", "router", "dns", "domain", "mtu", "ra_address")
EXAMPLE = "{name: rack, subnet: 10.20.0.0/24, interface: eno2, dhcp: server, ranges: {boot: 10.20.0.50-10.20.0.99}}"
KEYS = ("name", "subnet", "dhcp", "interface", "relayed", "address", *SERVED)
FORMS = {"ranges": (Mapping, "FIRST-LAST by boot server"), "dns": (list, "a list of IPv4 addresses")}
RA_PREFIX = "fd73:6c65:6400:{:x}::1/64"


def resolve(
    networks: Sequence[Json], server: str, address: str, servers: Sequence[str] = (), leases: Sequence[Json] = ()
) -> list[dict[str, Any]]:
    """The networks as the boot server needs them, which is `server`, one of `servers`, and has `address`.

    Raises ValueError with everything that is wrong, one line each.
    """
    wrong = list(_wrong(networks, address, {server, *servers}, leases))
    if wrong:
        raise ValueError("\n".join(wrong))
    return [_resolved(network, at, server, address) for at, network in enumerate(networks)]


def _resolved(network: Json, at: int, server: str, address: str) -> dict[str, Any]:
    subnet = ipaddress.IPv4Network(network["subnet"])
    ranges = network.get("ranges") or {}
    interface = network.get("interface", "")
    sends = network["dhcp"] == "server" and interface
    return {
        "name": network["name"],
        "tag": f"net-{network['name']}",
        "subnet": str(subnet),
        "network": str(subnet.network_address),
        "netmask": str(subnet.netmask),
        "interface": interface,
        "dhcp": network["dhcp"],
        "address": network.get("address") or address,
        "boot": address if network["dhcp"] == "foreign" else network.get("address") or address,
        "near": _within(address, subnet),
        "range": ranges.get(server, "").replace("-", ","),
        "shared": len(set(ranges) - {server}) > 0,
        "router": network.get("router") or "",
        "dns": network.get("dns") or [],
        "domain": network.get("domain") or "",
        "mtu": network.get("mtu") or "",
        "ra_address": network.get("ra_address", RA_PREFIX.format(at)) if sends else "",
    }


def _wrong(networks: Sequence[Json], address: str, servers: set[str], leases: Sequence[Json]) -> Iterator[str]:
    if not networks:
        yield f"dnsmasq_networks is empty: want the networks of the nodes, such as [{EXAMPLE}]"
    fine = []
    for at, network in enumerate(networks):
        if not isinstance(network, Mapping):
            yield f"dnsmasq_networks: entry {at + 1}: {network!r}: want a network, such as {EXAMPLE}"
            fine.append(False)
            continue
        who = f"dnsmasq_networks: {network.get('name') or f'entry {at + 1}'}:"
        found = [*_network(network, address, servers)]
        yield from (f"{who} {one}" for one in found)
        fine.append(not found)
    if all(fine):
        yield from _together(networks)
        yield from _leases(networks, leases)


def _network(network: Json, address: str, servers: set[str]) -> Iterator[str]:
    """What is wrong with one of them."""
    for key in network:
        if key not in KEYS:
            yield f"there is no key {key}: want {', '.join(KEYS)}"
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,31}", str(network.get("name", ""))):
        yield f"name {network.get('name')!r}: want lower case letters, digits and '-', such as rack-a"
    try:
        subnet = ipaddress.IPv4Network(network["subnet"])
    except (KeyError, ValueError) as error:
        yield f"subnet {network.get('subnet')!r}: want an IPv4 network such as 10.20.0.0/24 ({error})"
        return
    if network.get("dhcp") not in ("server", "proxy", "foreign"):
        yield f"dhcp {network.get('dhcp')!r}: want server, proxy or foreign"
        return
    if bool(network.get("interface")) == bool(network.get("relayed")):
        yield "want either interface, if the boot server has one there, or relayed: true, behind a router"
        return
    yield from _address(network, subnet, address)
    if network["dhcp"] == "server":
        yield from _server(network, subnet, address)
        for server in set(network.get("ranges") or {}) - servers:
            yield f"ranges: {server} is no boot server of the inventory: want {', '.join(sorted(servers))}"
    else:
        for name in SERVED:
            if network.get(name):
                yield f"{name} has no effect with dhcp: {network['dhcp']}, the other server hands that out; remove it"


def _address(network: Json, subnet: ipaddress.IPv4Network, address: str) -> Iterator[str]:
    own = network.get("address") or address
    if network.get("relayed") and network.get("address"):
        yield f"address {own}: machines behind a router reach the boot server at {address}; remove it"
    elif network.get("interface") and not _within(own, subnet):
        yield f"address {own} is not in {subnet}: set address to the boot server's own on {network['interface']}"
    elif network.get("relayed") and _within(own, subnet):
        yield f"the boot server's address {own} is in {subnet}, so its machines need no relay: set interface"


def _server(network: Json, subnet: ipaddress.IPv4Network, address: str) -> Iterator[str]:
    """What is wrong with what a server of addresses hands out."""
    odd = [f"{key} {network[key]!r}: want {want}" for key, (form, want) in FORMS.items() if not _is(network, key, form)]
    if odd:
        yield from odd
        return
    own = network.get("address") or address
    router = network.get("router")
    if router and not _within(router, subnet):
        yield f"router {router} is not in {subnet}: machines cannot reach it"
    elif not router and not _within(address, subnet):
        hint = "" if network.get("relayed") else f"; {own} will do, if there is none"
        yield f"router is missing, and machines reach the boot server's address {address} through it alone{hint}"
    for one in network.get("dns") or []:
        if not _is_address(one):
            yield f"dns {one}: want IPv4 addresses"
    if (mtu := network.get("mtu")) and not (str(mtu).isdecimal() and 576 <= int(mtu) <= 9216):
        yield f"mtu {mtu}: want 576 to 9216"
    if (sender := network.get("ra_address")) and not _sends(sender):
        yield f"ra_address {sender}: want an IPv6 address with its prefix length, such as {RA_PREFIX.format(0)}"
    ranges = []
    for server, text in (network.get("ranges") or {}).items():
        try:
            ranges.append((server, _range(text, subnet)))
        except ValueError as error:
            yield f"ranges: {server}: {error}"
    yield from _ranges(sorted(ranges, key=lambda one: one[1]), {"boot server": own, "router": router})


def _range(text: str, subnet: ipaddress.IPv4Network) -> Range:
    parts = str(text).split("-")
    if len(parts) != 2:
        raise ValueError(f"{text}: want FIRST-LAST, such as {subnet[1]}-{subnet[-2]}")
    first, last = (ipaddress.IPv4Address(part) for part in parts)
    for one in (first, last):
        if one not in subnet or one in (subnet.network_address, subnet.broadcast_address):
            raise ValueError(f"{one} is no address of a machine in {subnet}")
    if first > last:
        raise ValueError(f"{first} is above {last}")
    return first, last


def _ranges(ranges: list[tuple[str, Range]], others: Mapping[str, str | None]) -> Iterator[str]:
    for (one, (_, last)), (two, (first, _)) in itertools.pairwise(ranges):
        if first <= last:
            yield f"ranges: {one} and {two} both hand out {first}"
    for what, address in others.items():
        for server, (first, last) in ranges:
            if address and _is_address(address) and first <= ipaddress.IPv4Address(address) <= last:
                yield f"ranges: {server}: {address} is that of the {what}"


def _together(networks: Sequence[Json]) -> Iterator[str]:
    """What is wrong between them."""
    for one, two in itertools.combinations(networks, 2):
        names = f"dnsmasq_networks: {one['name']} and {two['name']}"
        if one["name"] == two["name"]:
            yield f"{names}: two networks have one name"
        elif ipaddress.IPv4Network(one["subnet"]).overlaps(ipaddress.IPv4Network(two["subnet"])):
            yield f"{names}: {one['subnet']} and {two['subnet']} overlap"
        elif one.get("interface") and one.get("interface") == two.get("interface"):
            yield f"{names}: both are on {one['interface']}, where nothing tells in which one a machine is"


def _leases(networks: Sequence[Json], leases: Sequence[Json]) -> Iterator[str]:
    served = [ipaddress.IPv4Network(one["subnet"]) for one in networks if one["dhcp"] == "server"]
    for lease in leases:
        if not any(_within(lease["address"], subnet) for subnet in served):
            places = ", ".join(map(str, served)) or "none"
            yield f"dnsmasq_static_leases: {lease['address']} is in no network with dhcp: server ({places})"


def _is(network: Json, key: str, form: type) -> bool:
    """Whether a key is absent, empty or of that form."""
    return not network.get(key) or isinstance(network[key], form)


def _sends(text: str) -> bool:
    try:
        ipaddress.IPv6Interface(text)
    except ValueError:
        return False
    return "/" in text


def _is_address(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True


def _within(text: str, subnet: ipaddress.IPv4Network) -> bool:
    return _is_address(text) and ipaddress.IPv4Address(text) in subnet
