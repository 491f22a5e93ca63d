# SPDX-License-Identifier: Apache-2.0
"""usage: leases.py INTERFACE N: leases of N machines, the first of which asks with four client identifiers; as JSON."""

from __future__ import annotations

import json
import secrets
import socket
import struct
import sys
import time
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

PATH = Path(__file__).resolve().parents[2] / "roles/dnsmasq/files/dhcp-client"
IDENTIFIERS = [b"", b"\x01" + bytes(6), b"\xff" + bytes(18), b"\x00iPXE"]


def client() -> Any:
    loader = SourceFileLoader("dhcp_client", str(PATH))
    spec = spec_from_loader("dhcp_client", loader)
    assert spec
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    loader.exec_module(module)
    return module


DHCP = client()


def exchange(sock: socket.socket, mac: bytes, options: bytes) -> Any:
    """The answer to a packet, or nothing within a second."""
    xid = secrets.randbits(32)
    head = struct.pack("!BBBBIHH16s", 1, 1, 6, 0, xid, 0, 0x8000, bytes(16))
    sock.sendto(head + mac.ljust(16, b"\0") + bytes(192) + DHCP.COOKIE + options + b"\xff", ("255.255.255.255", 67))
    end = time.monotonic() + 1
    while (left := end - time.monotonic()) > 0:
        sock.settimeout(left)
        try:
            data = sock.recv(4096)
        except TimeoutError:
            break
        if data[0] == 2 and data[4:8] == struct.pack("!I", xid):
            return data
    return None


def lease(sock: socket.socket, mac: bytes, identifier: bytes) -> str | None:
    own = DHCP.option(61, identifier) if identifier else b""
    offer = exchange(sock, mac, DHCP.option(53, b"\x01") + own)
    if offer is None:
        return None
    server = DHCP.options_of(offer[240:])[54]
    words = DHCP.option(53, b"\x03") + DHCP.option(50, offer[16:20]) + DHCP.option(54, server) + own
    answer = exchange(sock, mac, words)
    if answer is None or DHCP.options_of(answer[240:]).get(53) != b"\x05":
        return None
    return socket.inet_ntoa(answer[16:20])


def main(interface: str, number: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
        sock.bind(("", 68))
        machines = [bytes.fromhex(f"5254007e00{at:02x}") for at in range(int(number))]
        asked = [(machines[0], one) for one in IDENTIFIERS] + [(mac, b"") for mac in machines[1:]]
        print(json.dumps([lease(sock, mac, identifier) for mac, identifier in asked]))


main(*sys.argv[1:])
