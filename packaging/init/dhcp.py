# SPDX-License-Identifier: Apache-2.0
"""Who hands out addresses on an interface: a DHCPDISCOVER, which takes no address."""

from __future__ import annotations

import secrets
import socket
import struct
import time

IPV4 = 0x0800
BROADCAST = b"\xff" * 6
COOKIE = b"\x63\x82\x53\x63"
WAIT, AGAIN = 7.0, 2.0  # seconds; dnsmasq pings an address for three before it offers it
SERVER = 54  # the option with its address


def _sum(data: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def discover(mac: bytes, xid: int) -> bytes:
    """The IPv4 packet; without a checksum of UDP, which may be 0."""
    head = struct.pack("!BBBBIHH16s16s", 1, 1, 6, 0, xid, 0, 0x8000, b"", mac)  # 0x8000: the answer to all
    dhcp = head + bytes(192) + COOKIE + bytes([53, 1, 1, 55, 2, 1, 3, 255])
    udp = struct.pack("!HHHH", 68, 67, 8 + len(dhcp), 0) + dhcp
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, b"", b"\xff" * 4)
    return ip[:10] + struct.pack("!H", _sum(ip)) + ip[12:] + udp


def offered(packet: bytes, xid: int) -> str | None:
    """The address of the server, if the IPv4 packet is an answer to xid."""
    udp = packet[(packet[0] & 15) * 4 :] if packet else b""
    dhcp = udp[8:]
    if len(dhcp) < 240 or packet[9] != 17 or udp[:4] != struct.pack("!HH", 67, 68) or dhcp[0] != 2:
        return None
    if dhcp[4:8] != struct.pack("!I", xid):
        return None
    options = dhcp[240:]
    while len(options) > 1 and options[0] != 255:
        if options[0] == SERVER and options[1] == 4 and len(options) >= 6:
            return socket.inet_ntoa(options[2:6])
        options = options[1:] if options[0] == 0 else options[2 + options[1] :]
    return socket.inet_ntoa(packet[12:16])


def server(interface: str) -> str | None:
    """The address of the DHCP server that answers first. A packet socket is below firewalls and DHCP clients."""
    xid = secrets.randbits(32)
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(IPV4)) as link:
        link.bind((interface, IPV4))
        packet = discover(link.getsockname()[4], xid)
        end = time.monotonic() + WAIT
        again = 0.0
        while (now := time.monotonic()) < end:
            if now >= again:
                link.sendto(packet, (interface, IPV4, 0, 0, BROADCAST))
                again = now + AGAIN
            link.settimeout(max(0.01, min(again, end) - now))
            try:
                found = offered(link.recv(65535), xid)
            except TimeoutError:
                continue
            if found:
                return found
    return None
