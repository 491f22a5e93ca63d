# SPDX-License-Identifier: Apache-2.0
"""What sledd is to know of a node that is switched on. A sledd that is down stops no machine: it is a warning."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.options import read_token

LONGEST_NEWS = 15.0  # seconds that telling sledd may hold up a machine


@cache
def _client(server: str, token: str, ca_file: str | None) -> Client:
    """One for all news of a process, as it keeps connections."""
    return Client(server, token, ca_file, LONGEST_NEWS)


def client_of(options: Json) -> Client:
    """A client as the options of the module say."""
    token = read_token(options["token"], options["token_file"])
    return _client(options["server"] or "", token, options["ca_file"])


def switched_on(options: Json, driver: str, warn: Callable[[str], None]) -> None:
    """What is to be known right before a power-on or a reset. With a driver, the node is off and will boot."""
    power = options["action"] if options["events"] else ""
    if driver and options["expect"]:
        expect(options, driver, warn, power)
    elif power:
        node = options["node"]
        try:
            client_of(options).post_event(node, "power", power)
        except SledError as error:
            warn(f"sledd was not informed that {node} is switched on: {error}")


def expect(options: Json, driver: str, warn: Callable[[str], None], power: str = "") -> None:
    """Makes the boot expected, if that is requested. Without that the machine waits, and an operator admits it.

    Whoever was admitted before has lost its power, unless the control can only wake, or asks the system that runs to
    restart, which may only state so. power: the event, if there is one.
    """
    node, by = options["node"], "wol" if driver == "wol" else "power"
    if not options["expect"]:
        return
    also = {"power": power} if power else {}
    try:
        client_of(options).expect(node, by, options["expect"], revoke=driver not in ("wol", "ssh"), **also)
    except SledError as error:
        warn(f"sledd does not expect {node} to boot, so sledctl admit {node} may be needed: {error}")
