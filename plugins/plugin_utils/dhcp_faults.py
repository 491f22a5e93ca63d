# SPDX-License-Identifier: Apache-2.0
"""What is wrong in a network, by the answers of its DHCP servers to eight kinds of client, each with its remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]
NONE = "0.0.0.0"  # noqa: S104 # what a proxy offers
HTTP = ("16", "19")
PRINTS = "playbooks/dhcp.yml prints what to set"


def faults(
    network: Json, wanted: Mapping[str, str], answers: Mapping[str, Sequence[Json]], informed: Json
) -> list[str]:
    """The faults of a network, empty for a sound one.

    network is one of site_networks, wanted the file of each client by its name. answers are those of all servers,
    with the second one of a proxy, and informed is the answer to a client that has an address.
    """
    offers = {name: [one for one in found if one["address"] != NONE] for name, found in answers.items()}
    servers = sorted({_server(one) for found in offers.values() for one in found})
    if not servers:
        return [_silent(network, informed)]
    found = [*_servers(network, servers), *_router(network, offers)]
    if network["dhcp"] == "proxy" and not any(_ours(network, one) for all_ in answers.values() for one in all_):
        return [*found, _eaten(network)]
    for name, file in wanted.items():
        found += _file(network, name, file, answers[name])
    return found


def _server(answer: Json) -> str:
    return ", ".join(answer.get("server") or []) or "an unnamed server"


def _ours(network: Json, answer: Json) -> bool:
    return network["address"] in (answer.get("server") or [])


def _silent(network: Json, informed: Json) -> str:
    if informed:
        where = "ranges of dnsmasq_networks" if network["dhcp"] == "server" else "its range"
        return (
            f"the range is full: {_server(informed)} answers, and offers no address. Enlarge {where} or shorten leases."
        )
    if network["interface"]:
        return (
            f"no DHCP server answers. Look for port 67 on {network['address']}: journalctl -u dnsmasq, and firewalls."
        )
    return f"no DHCP server answers. The router of {network['subnet']} must relay DHCP (helper address)."


def _servers(network: Json, servers: Sequence[str]) -> Iterator[str]:
    own = network["address"]
    if len(servers) > 1:
        yield f"two DHCP servers hand out addresses: {' and '.join(servers)}. Stop one, or make Sled's dhcp: proxy."
    if network["dhcp"] == "server" and own not in servers:
        yield f"{servers[0]} hands out addresses in place of {own}. Stop it, or set dhcp to proxy or foreign."
    elif network["dhcp"] != "server" and own in servers:
        yield f"{own} hands out addresses, which dhcp: {network['dhcp']} does not say. Run playbooks/site.yml."


def _router(network: Json, offers: Mapping[str, Sequence[Json]]) -> Iterator[str]:
    without = sorted({_server(one) for found in offers.values() for one in found if not one["routers"]})
    if without and not network["near"]:
        names = ", ".join(without)
        yield f"{names} names no router (option 3), and the boot server is in another network. Set it there."


def _eaten(network: Json) -> str:
    return (
        f"offers of the proxy {network['address']} do not arrive. Trust its port in DHCP snooping, and in a routed"
        " network relay to it too; or set dhcp: foreign."
    )


def _file(network: Json, name: str, wanted: str, answers: Sequence[Json]) -> Iterator[str]:
    """What is wrong with what one kind of client is to boot."""
    files = sorted({one["file"] for one in answers if one["file"]})
    where = f"Set it there: {PRINTS}" if network["dhcp"] == "foreign" else "Run playbooks/site.yml"
    if not wanted:
        if files:
            yield f"client {name} boots nothing, and is offered {', '.join(files)}. {where}."
    elif name == "iPXE" and files and not any("://" in file for file in files):
        yield f"iPXE is sent {files[0]}, which loads iPXE again, in a loop. Match option 175 first: {PRINTS}."
    elif files != [wanted]:
        yield f"client {name} is offered {', '.join(files) or 'no file'}, and needs {wanted}. {where}."
    elif name in HTTP and not any(one.get("vendor_class") == "HTTPClient" for one in answers if one["file"]):
        yield f"client {name} gets no option 60 HTTPClient, and drops the answer. {where}."
    elif network["boot"] not in {one["next_server"] for one in answers if one["file"]}:
        yield f"client {name} is not sent to next-server {network['boot']}. {where}."
