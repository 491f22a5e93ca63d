# SPDX-License-Identifier: Apache-2.0
"""What sledd is to know of a node that is switched on. A sledd that is down stops no machine: it is a warning."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SledError, read_token

LONGEST_NEWS = 15.0  # seconds that telling sledd may hold up a machine


@cache
def _client(server: str, token: str, ca_file: str | None) -> Client:
    """One for all news of a process, as it keeps connections."""
    return Client(server, token, ca_file, LONGEST_NEWS)


def client_of(options: Json) -> Client:
    """A client as the options of the module say."""
    token = read_token(options["token"], options["token_file"])
    return _client(options["server"] or "", token, options["ca_file"])


def tell(options: Json, warn: Callable[[str], None]) -> None:
    """Posts the power event. Without it the run just has no time for its firmware."""
    node = options["node"]
    try:
        client_of(options).post_event(node, "power", options["action"])
    except SledError as error:
        warn(f"sledd was not informed that {node} is switched on: {error}")


def expect(options: Json, driver: str, warn: Callable[[str], None]) -> None:
    """Makes the boot expected. Without that the machine waits, and an operator admits it.

    Whoever was admitted before has lost its power, unless the control can only wake.
    """
    node, wakes = options["node"], driver == "wol"
    try:
        client = client_of(options)
        if not wakes:
            client.revoke(node)
        client.expect(node, "wol" if wakes else "power", options["expect"])
    except SledError as error:
        warn(f"sledd does not expect {node} to boot, so sledctl admit {node} may be needed: {error}")
