# SPDX-License-Identifier: Apache-2.0
"""A real nginx with the templates of role nginx, in front of a sledd that answers everything."""

from __future__ import annotations

import contextlib
import grp
import http.client
import os
import pwd
import re
import resource
import secrets
import shutil
import socket
import socketserver
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

import jinja2
import pytest

ROOT = Path(__file__).resolve().parents[2]
BURST = 20
UPLOADED_AS, UPLOAD = "52-54-00-77-00-01-3.raw.zst", "0c2f5c1e7a544c1f9a551f3a0b8f6f5e"
CAPTURED = UPLOADED_AS.replace(".", f"-{UPLOAD}.", 1)
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin")


class Sledd(BaseHTTPRequestHandler):
    """Answers everything, as sledd in good health, on a unix socket."""

    protocol_version = "HTTP/1.1"
    clients: ClassVar[list[str]] = []  # that the web server names
    asked: ClassVar[list[tuple[str, str]]] = []  # who may read and upload files: path and token
    public, kept = False, 10  # for so many seconds
    waited: ClassVar[threading.Event] = threading.Event()  # polls end

    def do_GET(self) -> None:
        self.clients.append(",".join(self.headers.get_all("X-Forwarded-For", [])))
        if re.search("/captured|/upload|/jobs/", self.path):
            self.captured()
            return
        if "wait=" in self.path:
            self.waited.wait(80)
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(b"sledd\n")

    def captured(self) -> None:
        """Lets tokens through that are good, or everybody; asked before a file is read or uploaded."""
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        self.asked.append((self.path, token))
        self.send_response(200 if self.public else {"good": 204, "": 401}.get(token, 403))
        self.send_header("Cache-Control", f"public, max-age={self.kept}" if self.public else "no-store")
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")  # so that it has ended when its socket has
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


class SocketServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """An HTTP server on a unix socket."""

    daemon_threads = True
    request_queue_size = 128


def free_port() -> int:
    """A port below those that the kernel gives to clients: no connection takes it before nginx does."""
    while True:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", secrets.randbelow(20_000) + 10_000))
            return int(probe.getsockname()[1])


def certificate(directory: Path) -> None:
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=test -keyout key -out crt"
    subprocess.run(command.split(), check=True, capture_output=True, cwd=directory)


def configuration(directory: Path, ports: tuple[int, int], **changes: Any) -> str:
    """The configuration of nginx with the defaults of the role, in a directory of the test."""
    text = render("etc/nginx/nginx.conf.j2", directory, ports, **changes)
    text = text.replace("/var/log/nginx", str(directory)).replace("/var/lib/nginx/nginx.pid", str(directory / "pid"))
    text = text.replace("/usr/share/sled/fallback.ipxe", str(directory / "fallback.ipxe"))
    return re.sub(r"^worker_rlimit_nofile .*$", "daemon off;", text, flags=re.M)


def render(template: str, directory: Path, ports: tuple[int, int], **changes: Any) -> str:
    """A template of the role with its defaults."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ROOT / "roles/nginx/templates"),
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["comment"] = lambda text: f"# {text}"
    environment.tests["search"] = lambda text, pattern: re.search(pattern, text) is not None
    values = {
        "ansible_managed": "test",
        "__nginx_certificate": {"stat": {}},
        "_nginx_user": f"{pwd.getpwuid(os.getuid()).pw_name} {grp.getgrgid(os.getgid()).gr_name}",
        "_nginx_cache": directory / "cache",
        "nginx_sledd": f"unix:{directory}/sock",
        "nginx_http_port": ports[0],
        "nginx_https_port": ports[1],
        "nginx_connections": 256,
        "nginx_connections_of_address": 256,
        "nginx_root": directory,
        "nginx_certificate": directory / "crt",
        "nginx_certificate_key": directory / "key",
        "nginx_uploads": 8,
        "nginx_upload_max": "1g",
        "nginx_job_files_keep": "30d",
        "nginx_rate": 1,
        "nginx_rate_burst": BURST,
        "nginx_rate_exempt": [],
        "nginx_relays": [],
        "nginx_peers": {},
        "nginx_requests": 64,
        "nginx_image_requests": 4,
        "nginx_image_rate": 0,
        "nginx_operator_networks": [],
        "nginx_operator_port": ports[1],
        "_nginx_apart": False,
        "_nginx_boot_listen": [""],
        "_nginx_operator_listen": [""],
    }
    return environment.get_template(template).render(values | changes)


class Front:
    """An nginx in front of a sledd that answers everything."""

    def __init__(self, directory: Path, **changes: Any) -> None:
        self.directory, self.apart = directory, bool(changes.get("_nginx_apart"))
        certificate(directory)
        for name in (".part", "jobs"):
            (directory / "images/captured" / name).mkdir(parents=True)
        for name in (CAPTURED, UPLOADED_AS, "golden", ".part/1"):
            (directory / "images/captured" / name).write_text("shadow")
        (directory / "fallback.ipxe").write_text("#!ipxe\n")
        self.sledd = SocketServer(str(directory / "sock"), Sledd)
        self.thread = threading.Thread(target=self.sledd.serve_forever, daemon=True)
        self.thread.start()
        self.ports = (free_port(), free_port())
        config = directory / "nginx.conf"
        config.write_text(configuration(directory, self.ports, **changes))
        assert NGINX
        command = [NGINX, "-c", str(config), "-p", str(directory), "-e", str(directory / "error.log")]
        self.nginx = subprocess.Popen(command, restore_signals=False)  # SIGXFSZ does not end it, see `fill`

    def plain(self) -> http.client.HTTPConnection:
        return self.connect(http.client.HTTPConnection("127.0.0.1", self.ports[0], timeout=60))

    def encrypted(self, address: str = "127.0.0.1") -> http.client.HTTPConnection:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return self.connect(http.client.HTTPSConnection(address, self.ports[1], timeout=60, context=context))

    def connect(self, connection: http.client.HTTPConnection) -> http.client.HTTPConnection:
        """Waits until nginx listens."""
        while True:
            try:
                connection.connect()
                return connection
            except ConnectionRefusedError:
                assert self.nginx.poll() is None, "nginx has ended"
                time.sleep(0.02)

    def reach(self, source: str = "127.0.0.1") -> socket.socket:
        self.encrypted().close()  # it listens from here on
        return socket.create_connection(("127.0.0.1", self.ports[1]), 60, (source, 0))

    def connect_from(self, source: str) -> ssl.SSLSocket:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context.wrap_socket(self.reach(source))

    def fill(self) -> None:
        """Lets nginx write no byte to a file from now on, as if its filesystem were full."""
        self.encrypted().close()  # its workers run
        workers = Path(f"/proc/{self.nginx.pid}/task/{self.nginx.pid}/children").read_text().split()
        for pid in workers:
            resource.prlimit(int(pid), resource.RLIMIT_FSIZE, (0, 0))

    def stop_sledd(self) -> None:
        self.sledd.shutdown()
        self.sledd.server_close()
        self.thread.join()

    def stop(self) -> None:
        self.nginx.terminate()
        self.nginx.wait(10)
        if self.thread.is_alive():
            self.stop_sledd()


@pytest.fixture
def front(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Front]:
    if NGINX is None:
        pytest.skip("nginx is not installed")
    running = Front(tmp_path, **request.param)
    try:
        yield running
    finally:
        running.stop()
