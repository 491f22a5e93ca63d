# SPDX-License-Identifier: Apache-2.0
"""A switch of namespaces: a server and nodes at one bridge. Needs root."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

NETWORK = "198.18.0"  # for tests of networks (RFC 2544)
SERVER = f"{NETWORK}.1"
GROUPS = "239.192.0.0/14"


def wait_for(what: str, is_so: Callable[[], bool], seconds: float = 60) -> None:
    """Polls until it is so."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:.0f} s"
        time.sleep(0.01)


class Switch:
    """Namespace `server` and nodes 0, 1, ...; the server's link has a rate, as tc has it."""

    def __init__(self, nodes: int, rate: str) -> None:
        self.name = f"sled-mc-{os.getpid()}"
        self.ports = ["server", *(str(i) for i in range(nodes))]
        self.rate = rate
        self.running: list[subprocess.Popen[str]] = []

    def namespace(self, port: str) -> str:
        """Of a port."""
        return f"{self.name}-{port}"

    def __enter__(self) -> Self:
        bridge = self.namespace("bridge")
        commands = [f"netns add {bridge}"]
        commands += [f"netns add {self.namespace(port)}" for port in self.ports]
        self.ip(commands)
        self.ip(["link add br0 type bridge", "link set br0 up"], bridge)
        for number, port in enumerate(self.ports, 1):
            inner = self.namespace(port)
            self.ip([f"link add p{number} type veth peer name eth0 netns {inner}"], bridge)
            self.ip([f"link set p{number} master br0", f"link set p{number} up"], bridge)
            address = f"address add {NETWORK}.{number}/24 broadcast + dev eth0"
            # Software cuts the bursts of the sender, so that a lost packet is one packet.
            self.ip(["link set lo up", address, "link set eth0 gso_max_segs 1", "link set eth0 up"], inner)
        rate = f"rate {self.rate} burst 64kb latency 50ms".split()
        link = ["tc", "-n", self.namespace("server"), "qdisc", "add", "dev", "eth0", "root", "tbf", *rate]
        subprocess.run(link, check=True, timeout=60)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for process in self.running:
            process.kill()
            process.wait()
        self.ip([f"netns del {self.namespace(port)}" for port in [*self.ports, "bridge"]])

    def ip(self, commands: list[str], namespace: str = "") -> None:
        """Several commands of ip, in a namespace."""
        words = ["ip", *(["-n", namespace] if namespace else []), "-batch", "-"]
        subprocess.run(words, input="\n".join(commands), text=True, check=True, timeout=60)

    def drop(self, rule: str) -> None:
        """Each node drops packets to groups that match."""
        table = "add table ip t; add chain ip t c { type filter hook prerouting priority 0; }"
        words = ["nft", f"{table}; add rule ip t c ip daddr {GROUPS} {rule} drop"]
        for port in self.ports[1:]:
            subprocess.run(["ip", "netns", "exec", self.namespace(port), *words], check=True, timeout=60)

    def start(self, port: str, *words: object, **more: Any) -> subprocess.Popen[str]:
        """A process at that port; it ends with the switch."""
        command = ["ip", "netns", "exec", self.namespace(port), *map(str, words)]
        process = subprocess.Popen(command, text=True, **more)
        self.running.append(process)
        return process

    def sent(self) -> int:
        """Bytes that the server sent, with their headers."""
        return self._bytes("server", "tx")

    def received(self, node: int) -> int:
        """Bytes that came to a node, with their headers."""
        return self._bytes(str(node), "rx")

    def _bytes(self, port: str, direction: str) -> int:
        words = ["ip", "-n", self.namespace(port), "-s", "-j", "link", "show", "eth0"]
        shown = subprocess.run(words, capture_output=True, check=True, timeout=60)
        return int(json.loads(shown.stdout)[0]["stats64"][direction]["bytes"])
