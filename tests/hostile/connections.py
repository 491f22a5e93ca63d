# SPDX-License-Identifier: Apache-2.0
"""Attacks by the number of connections: nginx counts requests, and half a request is none."""

from __future__ import annotations

import contextlib
import resource
import socket

from ansible_collections.sled.fleet.tests.hostile.attacks import attack_servers
from ansible_collections.sled.fleet.tests.hostile.site import SERVER
from ansible_collections.sled.fleet.tests.hostile.stranger import Stranger


@attack_servers
def take_all_connections(stranger: Stranger) -> None:
    """Opens twice as many connections as nginx has, and sends half of a header on each, while the node continues."""
    many = 2 * stranger.site.connections
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with contextlib.ExitStack() as open_ones:
        taken = 0
        for number in range(many):
            link = open_ones.enter_context(socket.socket())
            link.bind((stranger.address, 0))
            link.settimeout(5)
            with contextlib.suppress(OSError):  # reset: it has as many as it may
                link.connect((SERVER, stranger.site.ports[number % 2]))
                link.sendall(b"GET / HTTP/1.1\r\nHost: s" if number % 2 == 0 else b"\x16\x03\x01")
                taken += 1
        assert taken >= 64, taken
        for _ in range(10):
            stranger.victim.links.close()  # so that it needs another connection
            assert stranger.victim.alive()
