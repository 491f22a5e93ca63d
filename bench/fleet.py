# SPDX-License-Identifier: Apache-2.0
"""A sledd without machines, and nodes declared in it.

sledd runs on loopback with its embedded etcd, as on a small boot server.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import socket
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

SLEDD = "build/bin/sledd"
TOKEN = "0123456789abcdef" * 2
STARTS_IN = 30  # seconds at most
WRITERS = 16


def mac(number: int) -> str:
    """Address of a node."""
    return f"52:54:00:77:{number >> 8:02x}:{number & 255:02x}"


class Sledd:
    """Runs at `url` while it is entered, with `nodes` nodes and the images `images`."""

    def __init__(self, nodes: int, images: tuple[str, ...]) -> None:
        self.nodes, self.images = nodes, images
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.url = f"http://{self.address}"

    def __enter__(self) -> Self:
        self._home = tempfile.TemporaryDirectory()
        home = Path(self._home.name)
        (home / "token").write_text(TOKEN, encoding="ascii")
        (home / "token").chmod(0o600)
        command = [
            SLEDD,
            "--data-dir",
            str(home / "data"),
            "--listen",
            self.address,
            "--admin-token-file",
            str(home / "token"),
        ]
        with (home / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [*command, "--boot-url", "http://127.0.0.1", "--log-level", "warn"], stdout=log, stderr=log
            )
        self._wait(home / "log")
        with ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(self._register, self.images))
            size = -(-self.nodes // WRITERS)
            list(pool.map(self._declare, [range(at, min(at + size, self.nodes)) for at in range(0, self.nodes, size)]))
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(timeout=60)
        self._home.cleanup()

    def cpu(self) -> float:
        """CPU seconds so far, user and system."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def call(self, method: str, path: str, body: Any) -> bytes:
        """A request of an operator."""
        return self._call(http.client.HTTPConnection(self.address, timeout=STARTS_IN), method, path, body)

    def _wait(self, log: Path) -> None:
        deadline = time.monotonic() + STARTS_IN
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                self._call(http.client.HTTPConnection(self.address, timeout=STARTS_IN), "GET", "/v1/images", None)
            except OSError:
                time.sleep(0.05)
            else:
                return
        self._process.kill()
        raise SystemExit(f"bench: sledd did not start within {STARTS_IN} s: {log.read_text()}")

    def _register(self, name: str) -> None:
        image = {
            "name": name,
            "digest": "sha256:" + hashlib.sha256(name.encode()).hexdigest(),
            "urls": [f"http://127.0.0.1/images/{name}"],
            "bytes": 1 << 30,
            "file_bytes": 1 << 28,
        }
        self._call(http.client.HTTPConnection(self.address), "PUT", f"/v1/images/{name}", image)

    def _declare(self, numbers: range) -> None:
        connection = http.client.HTTPConnection(self.address)
        for i in numbers:
            node = {"mac": mac(i), "name": f"n{i}", "disk": f"serial:LAB-{i:04d}", "labels": {"rack": f"r{i // 40}"}}
            self._call(connection, "PUT", f"/v1/nodes/{mac(i)}", node)

    @staticmethod
    def _call(connection: http.client.HTTPConnection, method: str, path: str, body: Any) -> bytes:
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"bench: {method} {path}: {answer.status}: {text.decode()}")
        return text
