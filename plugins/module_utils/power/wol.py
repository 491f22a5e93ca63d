# SPDX-License-Identifier: Apache-2.0
"""Wake-on-LAN: a frame of six times ff and sixteen times the MAC. It can only switch on, and there is no response."""

from __future__ import annotations

import re
import socket
from typing import ClassVar

from ansible_collections.sled.fleet.plugins.module_utils.power.driver import Driver

ETHERTYPE = 0x0842
TIMES = 3  # there is no response


def magic(mac: str) -> bytes:
    """The packet that wakes this MAC."""
    return b"\xff" * 6 + bytes.fromhex(re.sub("[:-]", "", mac)) * 16


def frame(mac: str, source: bytes) -> bytes:
    """The packet as a broadcast Ethernet frame."""
    return b"\xff" * 6 + source + ETHERTYPE.to_bytes(2, "big") + magic(mac)


class Wol(Driver):
    """A network interface that listens while its machine is off."""

    name: ClassVar[str] = "wol"
    verbs: ClassVar[tuple[str, ...]] = ("on",)
    port: ClassVar[int] = 9
    tells: ClassVar[bool] = False

    @property
    def macs(self) -> list[str]:
        """Of every interface that may wake the machine."""
        return [mac for mac in [self.options.get("mac") or "", *(self.options.get("macs") or [])] if mac]

    @property
    def where(self) -> str:
        """The MACs, and where the packets go."""
        return " ".join(
            [
                "wol",
                ",".join(self.macs),
                "by",
                self.options.get("interface") or self.address or "255.255.255.255",
            ]
        )

    def on(self) -> None:
        """Sends a packet for each MAC as UDP broadcast; with an interface there, and as a raw frame too."""
        self.need("mac")
        for mac in self.macs:
            if not re.fullmatch("([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}", mac):
                self.fail("settings", f"mac {mac!r}: want six pairs of hex digits, such as 52:54:00:77:00:01")
        for mac in self.macs:
            self._wake(mac, self.options.get("interface"))

    def _wake(self, mac: str, interface: str | None) -> None:
        try:
            if interface:
                self._raw(mac, interface)
            self._datagram(mac, interface)
        except PermissionError:
            self.fail(
                "credentials",
                f"frames on interface {interface} are sent by root (CAP_NET_RAW): become root, or leave interface out",
            )
        except OSError as error:
            self.fail(
                "unreachable",
                f"{error.strerror}: address is to be the broadcast address of the node's network,"
                " interface one of the controller's",
            )

    def _raw(self, mac: str, interface: str) -> None:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
            sender.bind((interface, ETHERTYPE))
            for _ in range(TIMES):
                sender.send(frame(mac, sender.getsockname()[4]))

    def _datagram(self, mac: str, interface: str | None) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            if interface:
                sender.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
            for _ in range(TIMES):
                sender.sendto(magic(mac), (self.address or "255.255.255.255", self.options.get("port") or self.port))
