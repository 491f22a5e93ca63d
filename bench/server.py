# SPDX-License-Identifier: Apache-2.0
"""nginx on loopback, serving one directory as a boot server does, and counting what it sent."""

from __future__ import annotations

import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Self

CONFIGURATION = """\
daemon off;
user root;
pid {home}/pid;
error_log {home}/error.log;
worker_processes auto;
events {{ worker_connections 64; }}
http {{
  log_format sent '$body_bytes_sent';
  access_log {home}/sent.log sent;
  client_body_temp_path {home}/body; proxy_temp_path {home}/proxy;
  fastcgi_temp_path {home}/f; uwsgi_temp_path {home}/u; scgi_temp_path {home}/s;
  sendfile on; tcp_nopush on; keepalive_requests 100000;
  server {{ listen 127.0.0.1:{port}; root {root}; }}
}}
"""


class Server:
    """Serves `root` at `url` while it is entered."""

    def __init__(self, root: Path) -> None:
        self.root = root
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        self._home = tempfile.TemporaryDirectory()
        home = Path(self._home.name)
        home.chmod(0o755)
        (home / "nginx.conf").write_text(
            CONFIGURATION.format(home=home, port=self._port, root=self.root), encoding="ascii"
        )
        command = ["nginx", "-p", str(home), "-e", str(home / "error.log"), "-c", str(home / "nginx.conf")]
        self._nginx = subprocess.Popen(command)
        self._log = home / "sent.log"
        subprocess.run(
            ["curl", "-sSfI", "--retry", "20", "--retry-connrefused", "--retry-delay", "1", self.url + "/"],
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
        )
        if self._nginx.poll() is not None:
            raise SystemExit(f"bench: nginx did not start on port {self._port}: {(home / 'error.log').read_text()}")
        return self

    def __exit__(self, *_: object) -> None:
        self._nginx.terminate()
        self._nginx.wait(timeout=30)
        self._home.cleanup()

    def workers(self) -> list[int]:
        """Processes that have the connections."""
        pid = self._nginx.pid
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]

    def sent(self) -> int:
        """Bytes of bodies sent so far; requests count when they end."""
        return sum(int(line) for line in self._log.read_text(encoding="ascii").split())
