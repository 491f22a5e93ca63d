# SPDX-License-Identifier: Apache-2.0
"""An NFS server for tests: version 3 with its mount protocol and port mapper, all at one port, read-only, one folder.

It counts what is read, and can go away. It stands in for the kernel's server, which containers cannot start.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
from contextlib import suppress
from pathlib import Path

PORT_MAPPER, MOUNT, NFS = 100000, 100005, 100003
ROOT = b"root"
OK, NO_ENTRY, ACCESS_DENIED = 0, 2, 13


def opaque(data: bytes) -> bytes:
    """Of variable length, padded."""
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)


class Arguments:
    """Of a call."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def number(self, form: str = ">I") -> int:
        """The next one."""
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return int(value)

    def opaque(self) -> bytes:
        """The next one of variable length."""
        size = self.number()
        start, self.at = self.at, self.at + size + -size % 4
        return self.data[start : start + size]


class NFSServer:
    """Serves the files of a folder. Away, it ends each connection, and no other program gets its port."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.read, self.away = folder, 0, False
        self.lock, self.connections = threading.Lock(), set[socket.socket]()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def start(self) -> None:
        """Is back."""
        with self.lock:
            self.away = False

    def stop(self) -> None:
        """Goes away."""
        with self.lock:
            self.away = True
            for connection in self.connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def accept(self) -> None:
        """A thread for each connection."""
        while True:
            connection, _ = self.listener.accept()
            with self.lock:
                if self.away:
                    connection.close()
                    continue
                self.connections.add(connection)
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        """One call after the other, each a record of one fragment."""
        with suppress(OSError, EOFError), connection, connection.makefile("rb") as stream:
            while mark := stream.read(4):
                call = stream.read(struct.unpack(">I", mark)[0] & 0x7FFFFFFF)
                reply = self.reply(call)
                connection.sendall(struct.pack(">I", 0x80000000 | len(reply)) + reply)
        with self.lock:
            self.connections.discard(connection)

    def reply(self, call: bytes) -> bytes:
        """To one call."""
        arguments = Arguments(call)
        xid, _, _, program, _, procedure = (arguments.number() for _ in range(6))
        for _ in range(2):  # credentials, verifier
            arguments.number()
            arguments.opaque()
        answers = {PORT_MAPPER: self.port_mapper, MOUNT: self.mount, NFS: self.nfs}
        head = struct.pack(">IIIII", xid, 1, 0, 0, 0)
        if program not in answers:
            return head + struct.pack(">I", 1)  # PROG_UNAVAIL
        return head + struct.pack(">I", 0) + (answers[program](procedure, arguments) if procedure else b"")

    def port_mapper(self, _procedure: int, _arguments: Arguments) -> bytes:
        """Each program is at the port of NFS."""
        return struct.pack(">I", 2049)

    def mount(self, procedure: int, arguments: Arguments) -> bytes:
        """MNT and UMNT."""
        if procedure != 1:
            return b""
        if arguments.opaque().decode() != str(self.folder):
            return struct.pack(">I", ACCESS_DENIED)
        return struct.pack(">I", OK) + opaque(ROOT) + struct.pack(">II", 1, 1)  # AUTH_SYS

    def path(self, handle: bytes) -> Path:
        """Of a handle: the start of the name of a file, or ROOT."""
        return self.folder if handle == ROOT else next(self.folder.glob(f"{handle.decode()}*"))

    def attributes(self, path: Path) -> bytes:
        """fattr3."""
        info = path.stat()
        times = struct.pack(">II", info.st_mtime_ns // 10**9, info.st_mtime_ns % 10**9) * 3
        head = struct.pack(">IIIII", 2 if path.is_dir() else 1, 0o755, 1, 0, 0)
        return head + struct.pack(">QQIIQQ", info.st_size, info.st_size, 0, 0, 1, info.st_ino) + times

    def nfs(self, procedure: int, arguments: Arguments) -> bytes:
        """The procedures that a reader needs."""
        path = self.path(arguments.opaque())
        if procedure == 3:  # LOOKUP
            name = arguments.opaque()
            path = self.folder / name.decode()
            if not path.is_file():
                return struct.pack(">II", NO_ENTRY, 0)
            found = opaque(name[:60]) + struct.pack(">I", 1) + self.attributes(path)
            return struct.pack(">I", OK) + found + struct.pack(">I", 0)
        if procedure == 1:  # GETATTR
            return struct.pack(">I", OK) + self.attributes(path)
        head = struct.pack(">II", OK, 1) + self.attributes(path)
        if procedure == 6:
            return head + self.read_file(path, arguments)
        return (
            head
            + {
                4: lambda: struct.pack(">I", arguments.number()),  # ACCESS
                18: lambda: struct.pack(">QQQQQQI", *[0] * 7),  # FSSTAT
                19: lambda: struct.pack(">IIIIIIIQIII", 1 << 20, 1 << 20, 4096, 4096, 4096, 1, 4096, 1 << 60, 0, 1, 8),
                20: lambda: struct.pack(">IIIIII", 1, 255, 1, 1, 0, 1),  # PATHCONF
            }[procedure]()
        )

    def read_file(self, path: Path, arguments: Arguments) -> bytes:
        """READ."""
        offset, count = arguments.number(">Q"), arguments.number()
        with path.open("rb") as file:
            data = os.pread(file.fileno(), count, offset)
        with self.lock:
            self.read += len(data)
        return struct.pack(">II", len(data), len(data) < count) + opaque(data)
