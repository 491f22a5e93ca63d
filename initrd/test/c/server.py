# SPDX-License-Identifier: Apache-2.0
"""A small HTTP server for tests: a list of handlers answers one request each, the last one all that follow."""

from __future__ import annotations

import http.server
import re
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from email.message import Message
from pathlib import Path
from typing import NamedTuple, Self

Handler = Callable[["Request"], None]


class Seen(NamedTuple):
    """One request as it came; several come over one connection."""

    path: str
    headers: Message
    body: bytes
    connection: object  # the same for requests that came over the same one


class Request(http.server.BaseHTTPRequestHandler):
    """One request; `self.server.owner` is the Server."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on standard error."""

    def answer(self, status: int, body: bytes = b"", cut: int | None = None, **headers: str) -> None:
        """Sends an answer; with `cut`, only that many bytes of the body, and then closes."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if cut is None else body[:cut])
        self.wfile.flush()
        self.close_connection = self.close_connection or cut is not None

    def file(self, data: bytes, cut: int | None = None, ranges: bool = True) -> None:
        """Serves a file, from where the request wants it."""
        wanted = self.range(len(data)) if ranges else None
        if wanted:
            first, last = wanted
            self.answer(206, data[first : last + 1], cut, Content_Range=f"bytes {first}-{last}/{len(data)}")
        else:
            self.answer(200, data, cut)

    def range(self, size: int) -> tuple[int, int] | None:
        """First and last byte that the request wants of a file of that size."""
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        return (int(wanted[1]), min(int(wanted[2] or size), size - 1)) if wanted else None

    def raw(self, data: bytes) -> None:
        """These bytes, whatever they are, and the end."""
        self.wfile.write(data)
        self.wfile.flush()
        self.close_connection = True

    def chunks(self) -> Iterator[bytes]:
        """The chunks of the body as they come; without a last one when it was cut."""
        while size := int(self.rfile.readline() or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.whole = self.rfile.readline() == b"\r\n"

    def handle_one(self) -> None:
        """Reads the body, notes the request, lets the next handler answer."""
        owner: Server = self.server.owner  # type: ignore[attr-defined]
        self.body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.whole = "Transfer-Encoding" not in self.headers
        with owner.lock:
            handler = owner.handlers.pop(0) if len(owner.handlers) > 1 else owner.handlers[0]
            owner.seen.append(Seen(self.path, self.headers, self.body, self.client_address))
        try:
            handler(self)
        except ConnectionError:  # the client did not want the rest
            self.close_connection = True

    do_GET = do_POST = do_PUT = handle_one


class Quiet(http.server.ThreadingHTTPServer):
    """One that keeps failed handshakes to itself."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing on standard error."""


class Server:
    """Listens, on loopback unless told otherwise, from construction on; `with` closes it."""

    handshake = 0  # seconds that it takes to respond to a TLS client

    def __init__(
        self, *handlers: Handler, pki: Pki | None = None, name: str = "good", port: int = 0, address: str = "127.0.0.1"
    ) -> None:
        self.handlers = list(handlers)
        self.seen: list[Seen] = []
        self.lock = threading.Lock()
        self.http = Quiet((address, port), Request)
        self.http.owner = self  # type: ignore[attr-defined]
        self.port = self.http.server_address[1]
        self.url = f"http{'s' if pki else ''}://{address}:{self.port}"
        if pki:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(pki.directory / f"{name}.crt", pki.directory / "key.pem")
            context.sni_callback = lambda *_: time.sleep(self.handshake)
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()


class Pki:
    """A CA and certificates: good (127.0.0.1), other_name, other_ca."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.ca = directory / "ca.crt"
        key = directory / "key.pem"
        self.run("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", str(key))
        for ca in ("ca", "other"):
            self.run(
                "req",
                "-x509",
                "-new",
                "-key",
                str(key),
                "-subj",
                f"/CN={ca}",
                "-days",
                "2",
                "-out",
                str(directory / f"{ca}.crt"),
            )
        self.sign("good", "ca", "IP:127.0.0.1")
        self.sign("other_name", "ca", "IP:127.0.0.2,DNS:localhost")
        self.self_signed("other_ca", "IP:127.0.0.1")

    def run(self, *words: str) -> None:
        subprocess.run(["openssl", *words], check=True, capture_output=True)

    def sign(self, name: str, ca: str, names: str) -> None:
        """A certificate of that CA for those names."""
        d = self.directory
        (d / "names").write_text(f"subjectAltName={names}\n")
        self.run("req", "-new", "-key", str(d / "key.pem"), "-subj", f"/CN={name}", "-out", str(d / "csr"))
        self.run(
            "x509",
            "-req",
            "-in",
            str(d / "csr"),
            "-CA",
            str(d / f"{ca}.crt"),
            "-CAkey",
            str(d / "key.pem"),
            "-CAcreateserial",
            "-days",
            "2",
            "-extfile",
            str(d / "names"),
            "-out",
            str(d / f"{name}.crt"),
        )

    def self_signed(self, name: str, names: str) -> None:
        """A certificate that no CA of ours vouches for: another key signs it."""
        d = self.directory
        self.run("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", str(d / "other.pem"))
        (d / "names").write_text(f"subjectAltName={names}\n")
        self.run(
            "req",
            "-x509",
            "-new",
            "-key",
            str(d / "other.pem"),
            "-subj",
            "/CN=stranger",
            "-days",
            "2",
            "-out",
            str(d / "stranger.crt"),
        )
        self.run("req", "-new", "-key", str(d / "key.pem"), "-subj", f"/CN={name}", "-out", str(d / "csr"))
        self.run(
            "x509",
            "-req",
            "-in",
            str(d / "csr"),
            "-CA",
            str(d / "stranger.crt"),
            "-CAkey",
            str(d / "other.pem"),
            "-CAcreateserial",
            "-days",
            "2",
            "-extfile",
            str(d / "names"),
            "-out",
            str(d / f"{name}.crt"),
        )
