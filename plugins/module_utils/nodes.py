# SPDX-License-Identifier: Apache-2.0
"""Reads any number of nodes of sledd."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ansible_collections.sled.fleet.plugins.module_utils.client import ApiError, Client, Json, SledError, Unreachable
from ansible_collections.sled.fleet.plugins.module_utils.objects import normal_mac

FEW = 8  # nodes that are read one by one; more are read as lists
PART = 200  # nodes of one such list
LONGEST_NAMES = 4096  # characters of their names: web servers refuse longer lines


def read(client: Client, nodes: Sequence[str]) -> dict[str, Json]:
    """The nodes by the names of the request; those that do not exist are missing."""
    found: dict[str, Json] = {}
    if len(nodes) > FEW:
        wanted = {normal_mac(name): name for name in nodes}
        for names in parts(nodes):
            for node in client.pages("/v1/nodes", {"node": names}):
                for key in (node["mac"], node.get("name", "")):
                    if key in wanted:
                        found[wanted[key]] = node
    # A node that gets another MAC between two pages is in none of them, and one may be named by a further MAC.
    for name in nodes:
        if name not in found and (single := client.find("nodes", name)) is not None:
            found[name] = single
    return found


def parts(nodes: Sequence[str]) -> Iterator[list[str]]:
    """The nodes in lists that fit into a request."""
    names: list[str] = []
    for name in nodes:
        if names and (len(names) == PART or sum(map(len, names)) + len(name) > LONGEST_NAMES):
            yield names
            names = []
        names.append(name)
    if names:
        yield names


def passing(error: SledError) -> bool:
    """Whether sledd may answer later."""
    return isinstance(error, Unreachable) or (
        isinstance(error, ApiError) and (error.status >= 500 or error.status == 429)
    )
