# SPDX-License-Identifier: Apache-2.0
"""Uploads to servers that take them, refuse them, and go away; nginx among them.

Prints TAP. $SLED_TOOLS: builds of tool_*.c.
"""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from server import Pki, Request, Server
from tap import run_tests

PUT = Path(os.environ["SLED_TOOLS"]) / "tool_put"
MIB = 1 << 20
DATA = hashlib.shake_128(b"upload").digest(9 * MIB + 77)
work = Path(tempfile.mkdtemp())
work.chmod(0o755)
pki = Pki(work)

NGINX = """
{user}
worker_processes 1;
daemon off;
pid {work}/nginx.pid;
error_log {work}/nginx.log;
events {{}}
http {{
	access_log off;
	client_body_temp_path {work}/temporary;
	server {{
		listen 127.0.0.1:{port} ssl;
		ssl_certificate {work}/good.crt;
		ssl_certificate_key {work}/key.pem;
		root {work}/files;
		client_max_body_size 64m;
		dav_methods PUT;
		location /small/ {{ client_max_body_size 1m; }}
		location /guarded/ {{ if ($http_authorization != "Bearer right") {{ return 401; }} }}
		location /never/ {{ return 403; }}
	}}
}}
"""


def put(url: str, *words: str, token: str = "right", data: bytes = DATA) -> subprocess.CompletedProcess[bytes]:
    """One run, with a deadline."""
    environment = {**os.environ, "SLED_CA": str(pki.ca)}
    return subprocess.run(
        [PUT, url, token, *words], input=data, capture_output=True, timeout=100, check=False, env=environment
    )


def expect(run: subprocess.CompletedProcess[bytes], code: int, words: str = "") -> None:
    """The exit code, and words of the fault."""
    assert run.returncode == code, f"exit {run.returncode}, not {code}: {run.stderr!r}"
    assert words in run.stderr.decode(), f"no {words!r} in {run.stderr!r}"


def take(request: Request) -> None:
    """Keeps the whole upload in `kept`."""
    kept.append(b"".join(request.chunks()))
    whole.append(request.whole)
    request.answer(201)


kept: list[bytes] = []
whole: list[bool] = []


def test_taken() -> None:
    for secret in (None, pki):
        with Server(take, pki=secret) as s:
            expect(put(s.url + "/f"), 0)
            assert kept.pop() == DATA and whole.pop()
            assert s.seen[0].headers["Authorization"] == "Bearer right"
            expect(put(s.url + "/f", data=b""), 0)
            assert kept.pop() == b"" and whole.pop()


def test_not_committed() -> None:
    def cut(request: Request) -> None:
        for _ in request.chunks():
            pass
        whole.append(request.whole)

    with Server(cut) as s:
        expect(put(s.url + "/f", "nocommit"), 0)
        time.sleep(0.2)
    assert whole.pop() is False


def test_refused_before_a_byte() -> None:
    for status, words in (
        (401, "token refused (401)"),
        (413, "larger than the server accepts (413)"),
        (500, "responded with status 500"),
    ):
        with Server(lambda r, status=status: r.answer(status), pki=pki) as s:
            expect(put(s.url + "/f"), 6, words)


def test_refused_on_the_way() -> None:
    def full(request: Request) -> None:
        next(request.chunks())
        request.answer(507)
        request.close_connection = True

    for secret in (None, pki):
        with Server(full, pki=secret) as s:
            expect(put(s.url + "/f", data=DATA * 5), 1, "the server has no space left (507)")


def test_refused_at_the_end() -> None:
    def late(request: Request) -> None:
        for _ in request.chunks():
            pass
        request.answer(403)

    with Server(late) as s:
        expect(put(s.url + "/f"), 6, "may not upload to that URL (403)")


def test_server_goes_away() -> None:
    with Server(lambda r: (next(r.chunks()), r.raw(b""))[1]) as s:
        expect(put(s.url + "/f", data=DATA * 5), 6, s.url)
    expect(put("http://127.0.0.1:1/f"), 6, "refused")


def test_urls() -> None:
    expect(put("http://192.0.2.1/f"), 2, "unencrypted")
    expect(put("file:///f"), 2, "must be http or https")
    with Server(take, pki=pki, name="other_ca") as s:
        expect(put(s.url + "/f"), 6, "certificate refused")
        assert not s.seen


@contextmanager
def nginx() -> Iterator[str]:
    """A real one, with PUT as the boot server has it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name in ("files/guarded", "files/small", "temporary"):
        (work / name).mkdir(parents=True, exist_ok=True)
    configuration = work / "nginx.conf"
    configuration.write_text(NGINX.format(work=work, port=port, user="user root;" if os.geteuid() == 0 else ""))
    server = subprocess.Popen(
        ["/usr/sbin/nginx", "-c", configuration, "-p", work, "-e", work / "nginx.log"], stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert server.poll() is None, (work / "nginx.log").read_text()
            time.sleep(0.02)
        yield f"https://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=10)


def test_nginx() -> None:
    with nginx() as url:
        for _ in range(2):  # anew, and in place of the first
            expect(put(url + "/guarded/f"), 0)
            assert (work / "files/guarded/f").read_bytes() == DATA
        expect(put(url + "/guarded/g", token="wrong"), 6, "token refused (401)")
        expect(put(url + "/never/f"), 6, "may not upload to that URL (403)")
        expect(put(url + "/small/f"), 6, "larger than the server accepts (413)")
        expect(put(url + "/guarded/h", "nocommit"), 0)
        assert sorted(p.name for p in (work / "files").rglob("*") if p.is_file()) == ["f"]


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
