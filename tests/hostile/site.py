# SPDX-License-Identifier: Apache-2.0
"""A site to attack: a real sledd behind a real nginx with the templates of role nginx, at one level of admission."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import ssl
import subprocess
import threading
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ansible_collections.sled.fleet.tests.unit.front import NGINX, certificate, configuration, render

Json = dict[str, Any]

BIN = Path(__file__).resolve().parents[2] / "build/bin"
ADMIN = "an-operator-token-of-the-tests-0123456789"
SECRET = "#!the user data of a node"
TOKEN = re.compile(rb"sled[a-z]_[0-9a-f_]{20}")
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl operator"
DIGEST = "sha256:" + "8f" * 32
SERVER, OPERATOR = "10.99.255.1", "10.99.255.2"  # not of loopback, whose addresses say nothing
DEADLINE = 60  # seconds that one request may take


@dataclass
class Answer:
    """A response."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def token(self) -> str:
        return self.headers.get("sled-token", "")

    def json(self) -> Json:
        found: Json = json.loads(self.body)
        return found


def ask(link: http.client.HTTPConnection, method: str, path: str, body: bytes, headers: Json) -> Answer:
    """One request on a connection, which is opened if need be."""
    link.request(method, path, body or None, headers)
    response = link.getresponse()
    return Answer(response.status, response.read(), {key.lower(): value for key, value in response.getheaders()})


class Links:
    """The connections of one machine: one over TLS, and one in clear. They are kept, as handshakes are expensive."""

    def __init__(self, site: Site, source: str) -> None:
        self._site, self._source = site, source
        self._open: dict[bool, http.client.HTTPConnection] = {}

    def request(
        self, method: str, path: str, body: bytes = b"", headers: Json | None = None, *, plain: bool = False
    ) -> Answer:
        """One request, over TLS unless it is plain."""
        if plain not in self._open:
            self._open[plain] = self._site.link(plain, self._source)
        try:
            return ask(self._open[plain], method, path, body, headers or {})
        except (http.client.HTTPException, OSError):  # the server has closed it after the request before
            self._open[plain].close()
            return ask(self._open[plain], method, path, body, headers or {})

    def close(self) -> None:
        """Closes both."""
        for link in self._open.values():
            link.close()


class Site:
    """nginx on two ports of loopback, sledd behind it."""

    def __init__(
        self, folder: Path, level: str, *, quota: int = 4096, rate: int = 0, connections: int = 256, rival: int = 300
    ) -> None:
        """quota: MiB of the store. rate: requests per second of an address; 0: any number. rival: sledd_rival_time."""
        assert NGINX, "nginx is not installed"
        self.level = level
        self.folder = folder
        self._settings = {
            "nginx_rate": rate,
            "nginx_rate_burst": 500,
            "nginx_connections": connections,
            "nginx_connections_of_address": connections // 2,
        }
        self._quota, self._rival = quota, rival
        self.connections = connections * (os.cpu_count() or 1)  # of nginx, with a worker per core
        self._number = 0
        self._lock = threading.Lock()
        self._operators = threading.local()
        folder.mkdir()
        certificate(folder)
        (folder / "images/captured/.part").mkdir(parents=True)
        (folder / "consoles").mkdir()
        (folder / "fallback.ipxe").write_text("#!ipxe\n")
        (folder / "admin.token").write_text(ADMIN)
        first = 20_000 + zlib.crc32(folder.name.encode()) % 5000 * 2  # no port that a client may come from
        self.ports = (first, first + 1)
        self._tls = ssl.create_default_context()
        self._tls.check_hostname, self._tls.verify_mode = False, ssl.CERT_NONE
        self._limit_connections()
        self._processes = [self._sledd(), self._nginx(NGINX)]

    def _limit_connections(self) -> None:
        """As the unit sled-connections of the boot server does; here several sites share one network."""
        rules = render("etc/sled/connections.nft.j2", self.folder, self.ports, **self._settings)
        rules = rules.replace("sled_connections", f"sled_{self.ports[0]}")
        subprocess.run(["/usr/sbin/nft", "-f", "-"], input=rules, text=True, check=True, timeout=DEADLINE)

    def _sledd(self) -> subprocess.Popen[bytes]:
        plain, encrypted = self.ports
        options = {
            "listen": f"unix:{self.folder}/sock",
            "data-dir": str(self.folder / "etcd"),
            "boot-url": f"http://127.0.0.1:{plain}",
            "image-urls": f"http://127.0.0.1:{plain}/images",
            "node-urls": f"https://127.0.0.1:{encrypted}",
            "upload-url": f"https://127.0.0.1:{encrypted}/upload",
            "admin-token-file": str(self.folder / "admin.token"),
            "admission": self.level,
            "rival-time": f"{self._rival}s",
            "console-directory": str(self.folder / "consoles"),
            "store-quota": str(self._quota),
            "log-level": "warn",
        }
        command = [str(BIN / "sledd"), *(word for name, value in options.items() for word in (f"--{name}", value))]
        with (self.folder / "sledd.log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | {"GOGC": "400"})

    def _nginx(self, program: str) -> subprocess.Popen[bytes]:
        config = self.folder / "nginx.conf"
        config.write_text(configuration(self.folder, self.ports, **self._settings))
        return subprocess.Popen(
            [program, "-c", str(config), "-p", str(self.folder), "-e", str(self.folder / "nginx.log")]
        )

    def begin(self) -> None:
        """Waits until it answers, and registers an image of a disk and one of a root."""
        self._answers()
        image = {"name": "d12", "digest": DIGEST, "urls": [f"http://127.0.0.1:{self.ports[0]}/images/d12"]}
        self.operator("PUT", "/v1/images/d12", image | {"bytes": 1 << 30, "file_bytes": 1 << 28})
        root = {"name": "hpl", "kind": "root", "container": {"command": ["/bin/hpl"]}}
        self.operator("PUT", "/v1/images/hpl", image | root | {"bytes": 1 << 20, "file_bytes": 1 << 20})

    def _answers(self) -> None:
        """Waits until sledd answers."""
        deadline = time.monotonic() + DEADLINE
        while True:
            try:
                if self.operator("GET", "/v1/nodes", check=False).status == 200:
                    return
            except (http.client.HTTPException, OSError):
                self._operators.link.close()
            assert time.monotonic() < deadline, (self.folder / "sledd.log").read_text()
            time.sleep(0.05)

    def end(self) -> None:
        """Ends its processes."""
        for process in self._processes:
            process.terminate()
            process.wait(DEADLINE)

    def kill(self) -> None:
        """Kills sledd, and starts it again."""
        self._processes[0].kill()
        self._processes[0].wait(DEADLINE)
        self._processes[0] = self._sledd()
        self._answers()

    def left(self) -> list[str]:
        """The files that hold text in the form of a token: of the store, of the logs, and of what is served."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        assert any(path.name == "db" for path in files), files
        return [str(path.relative_to(self.folder)) for path in files if TOKEN.search(path.read_bytes())]

    def files(self, job: str) -> dict[str, bytes]:
        """What a job has put, by name."""
        return {file.name: file.read_bytes() for file in (self.folder / "images/captured/jobs" / job).glob("*.*")}

    def shows(self, mac: str, text: str) -> None:
        """A line on the recorded console of a node."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with (self.folder / "consoles" / f"{mac.replace(':', '-')}.log").open("a") as record:
            record.write(f"{stamp} {text}\n")

    def number(self) -> int:
        """The number of a node that nobody had."""
        with self._lock:
            self._number += 1
            return self._number

    def links(self, source: str) -> Links:
        """The connections of a machine with that address."""
        return Links(self, source)

    def link(self, plain: bool, source: str) -> http.client.HTTPConnection:
        if plain:
            return http.client.HTTPConnection(SERVER, self.ports[0], timeout=DEADLINE, source_address=(source, 0))
        return http.client.HTTPSConnection(
            SERVER, self.ports[1], timeout=DEADLINE, source_address=(source, 0), context=self._tls
        )

    def connect(self, source: str) -> ssl.SSLSocket:
        """A connection for what http.client would not send."""
        link = socket.create_connection((SERVER, self.ports[1]), DEADLINE, (source, 0))
        return self._tls.wrap_socket(link)

    def operator(self, method: str, path: str, body: Json | None = None, *, check: bool = True) -> Answer:
        """A request of an operator with every right."""
        headers = {"Authorization": f"Bearer {ADMIN}", "Content-Type": "application/json"}
        text = b"" if body is None else json.dumps(body).encode()
        if not hasattr(self._operators, "link"):  # one connection for each thread
            self._operators.link = self.link(False, OPERATOR)
        try:
            answer = ask(self._operators.link, method, path, text, headers)
        except (http.client.HTTPException, OSError):  # nginx closes a connection after many requests
            self._operators.link.close()
            answer = ask(self._operators.link, method, path, text, headers)
        assert not check or answer.status < 300, (method, path, answer.status, answer.body)
        return answer

    def node(self, name: str) -> Json:
        """What an operator sees of a node."""
        return self.operator("GET", f"/v1/nodes/{quote(name)}").json()

    def admission(self, name: str) -> Json:
        """Who claims to be a node."""
        return self.operator("GET", f"/v1/nodes/{quote(name)}/admission").json()

    def events(self, name: str) -> list[Json]:
        """The events of a node."""
        items: list[Json] = self.operator("GET", f"/v1/nodes/{quote(name)}/events").json()["items"]
        return items

    def store(self) -> Json:
        """How full the store is."""
        return self.operator("GET", "/v1/store").json()

    def stored(self) -> int:
        """Bytes of the store that are in use, without its history."""
        return int(self.operator("POST", "/v1/store/heal").json()["in_use"])
