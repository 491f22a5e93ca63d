# SPDX-License-Identifier: Apache-2.0
"""The network between a node and its boot server: relays HTTP, and has at most one fault, at a byte of the answers."""

from __future__ import annotations

import re
import socket
import socketserver
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import BinaryIO, Self

PIECE = 16 << 10
PATIENCE = 600  # seconds


@dataclass
class Fault:
    """What happens, and where: byte of the file for `flip`, number of bytes that were sent before for the others."""

    kind: str  # none, flip, cut, kill or server
    at: int = 0
    bit: int = 0


class Relay(socketserver.BaseRequestHandler):
    """One connection of the node, and one to the server for it."""

    def handle(self) -> None:
        """Answer by answer, until one of both closes."""
        network, node = self.server, self.request
        assert isinstance(network, Network)
        with suppress(OSError), socket.create_connection(network.upstream, timeout=PATIENCE) as server:
            answers = server.makefile("rb")
            while request := head(node):
                server.sendall(request)
                answer = b"".join(iter(answers.readline, b"\r\n"))
                node.sendall(answer + b"\r\n")
                size = re.search(rb"(?i)content-length: (\d+)", answer)
                first = re.search(rb"(?i)content-range: bytes (\d+)", answer)
                if not size or not network.forward(answers, node, int(first[1]) if first else 0, int(size[1])):
                    return


def head(node: socket.socket) -> bytes:
    """A request, which has no body; nothing if there is none."""
    found = b""
    while not found.endswith(b"\r\n\r\n"):
        piece = node.recv(PIECE)
        if not piece:
            return b""
        found += piece
    return found


class Network(socketserver.ThreadingTCPServer):
    """Relays while it is entered."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, upstream: tuple[str, int], fault: Fault) -> None:
        super().__init__(("127.0.0.1", 0), Relay)
        self.upstream, self.fault = upstream, fault
        self.sent, self.struck, self.accepted, self.accepted_before = 0, False, 0, 0
        self.lock, self.ready = threading.Lock(), threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.thread = threading.Thread(target=self.serve_forever, args=(0.01,))

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.shutdown()
        self.thread.join()
        self.server_close()

    def begin(self, strike: Callable[[], None]) -> None:
        """What `kill` and `server` do, once as many bytes were sent as the fault states."""
        self.strike = strike
        self.ready.set()

    def verify_request(self, request: object, client_address: object) -> bool:
        """Counts them."""
        self.accepted += 1
        return True

    def has_reconnected(self) -> bool:
        """Whether the node came again after the fault."""
        return self.accepted > self.accepted_before

    def forward(self, answers: BinaryIO, node: socket.socket, at: int, left: int) -> bool:
        """A body that starts at that byte of the file. Whether the connection is still of use."""
        while left > 0:
            data = answers.read(min(left, PIECE))
            if not data:
                return False
            if self.fault.kind == "flip" and at <= self.fault.at < at + len(data):
                changed = bytearray(data)
                changed[self.fault.at - at] ^= 1 << self.fault.bit
                data, self.struck = bytes(changed), True
            before = self.claim(len(data))
            node.sendall(data[:before])
            if before < len(data) and self.happens(node):
                return False
            node.sendall(data[before:])
            at, left = at + len(data), left - len(data)
        return True

    def claim(self, size: int) -> int:
        """How many of so many bytes are sent before the fault."""
        with self.lock:
            before = self.fault.at - self.sent
            self.sent += size
            if self.struck or self.fault.kind in {"none", "flip"} or not 0 <= before < size:
                return size
            self.struck = True
            return before

    def happens(self, node: socket.socket) -> bool:
        """The fault at a number of bytes. Whether this connection is cut."""
        self.accepted_before = self.accepted
        if self.fault.kind == "cut":  # by a reset: what was not delivered is lost
            node.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            node.close()
            return True
        self.ready.wait(PATIENCE)
        self.strike()
        return False
