# SPDX-License-Identifier: Apache-2.0
"""The templates of role nginx, in a real nginx: what one address can use up."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice

import pytest
from ansible_collections.sled.fleet.tests.unit.front import Front, Sledd, front

__all__ = ["front"]

IMAGE = "big.raw.zst"
UPLOAD = "/upload/52-54-00-77-00-0{}-3.raw.zst"
ADDRESSES = [f"127.0.0.{number}" for number in range(10, 16)]


def begin_upload(front: Front, source: str, token: str, node: int) -> tuple[ssl.SSLSocket, int]:
    """Sends half of a file; returns the status if nginx answers, and 0 if it waits for the rest."""
    head = (
        f"PUT {UPLOAD.format(node)} HTTP/1.1\r\nHost: sled\r\nAuthorization: Bearer {token}\r\n"
        "Content-Length: 100000\r\nExpect: 100-continue\r\n\r\n"
    )
    link = front.connect_from(source)
    link.sendall(head.encode())
    status = int(link.recv(65536).split()[1])
    link.sendall(b"x" * 50_000)
    return link, 0 if status == 100 else status


@pytest.mark.parametrize("front", [{"nginx_uploads": 3}], indirect=True)
def test_strangers_hold_no_place_of_an_upload(front: Front) -> None:
    with contextlib.ExitStack() as links:

        def put(source: str, token: str, node: int) -> int:
            link, status = begin_upload(front, source, token, node)
            links.callback(link.close)
            return status

        assert [put(source, "bad", 1) for source in ADDRESSES[:4] for _ in range(3)] == [403] * 12
        assert [put(source, "good", 1) for source in ADDRESSES[3:6]] == [0, 0, 429], "of one node, at any addresses"
        assert [put(ADDRESSES[4], "good", node) for node in range(2, 4)] == [0, 429], "of all nodes"


@pytest.mark.parametrize("front", [{"nginx_rate": 1000, "nginx_rate_burst": 500, "nginx_requests": 5}], indirect=True)
def test_polls_of_one_address_are_limited(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sledd, "waited", threading.Event())

    def poll(source: str) -> int:
        with front.connect_from(source) as link:
            link.settimeout(60)
            link.sendall(b"GET /node/v1/x/plan?wait=60 HTTP/1.1\r\nHost: sled\r\nConnection: close\r\n\r\n")
            return int(link.recv(65536).split()[1])

    with ThreadPoolExecutor(14) as pool:
        polls = [pool.submit(poll, ADDRESSES[0]) for _ in range(9)]
        ended = list(islice(as_completed(polls, timeout=60), 4))
        assert [one.result() for one in ended] == [429] * 4
        polls += [pool.submit(poll, ADDRESSES[1]) for _ in range(5)]
        Sledd.waited.set()
    assert [one.result() for one in polls if one not in ended] == [200] * 10


@pytest.mark.parametrize("front", [{}], indirect=True)
def test_half_requests_hold_no_connection(front: Front) -> None:
    """A handshake that never ends, and a head without its end."""
    with front.connect_from(ADDRESSES[0]) as half, front.reach() as quiet:
        quiet.settimeout(30)
        half.settimeout(30)
        half.sendall(b"GET /node/v1/x/plan HTTP/1.1\r\nHost: sl")
        assert quiet.recv(1) == half.recv(1) == b""


def ask(front: Front, source: str) -> tuple[socket.socket, int]:
    """Requests an image of which it reads nothing but the status, so that nginx waits for the rest to be taken."""
    link = socket.create_connection(("127.0.0.1", front.ports[0]), 60, (source, 0))
    link.sendall(f"GET /images/{IMAGE} HTTP/1.1\r\nHost: sled\r\nConnection: close\r\n\r\n".encode())
    return link, int(link.recv(12).split()[1])


def publish(front: Front, size: int = 64 << 20) -> None:
    with (front.directory / "images" / IMAGE).open("wb") as file:
        file.truncate(size)
    front.plain().close()  # it listens from here on


@pytest.mark.parametrize("front", [{"nginx_rate": 1000, "nginx_rate_exempt": ["127.0.2.0/24"]}], indirect=True)
def test_connections_of_one_address_are_no_larger_share_of_images(front: Front) -> None:
    """64 nodes with as many requests as they have, and one with 64; then an address without a limit."""
    publish(front)
    with contextlib.ExitStack() as links:

        def fetch(source: str) -> int:
            link, status = ask(front, source)
            links.callback(link.close)
            return status

        assert sorted(fetch("127.0.1.1") for _ in range(64)) == [200] * 4 + [429] * 60
        assert {fetch(f"127.0.3.{node}") for node in range(1, 65) for _ in range(2)} == {200}
        assert {fetch("127.0.2.1") for _ in range(16)} == {200}


@pytest.mark.parametrize("front", [{"nginx_rate": 1000, "nginx_image_rate": 1}], indirect=True)
def test_a_site_sets_a_rate_of_images(front: Front) -> None:
    """What takes a moment without a rate takes a quarter of an hour."""
    publish(front)
    link, status = ask(front, "127.0.1.1")
    got, end = 0, time.monotonic() + 2
    with link:
        while time.monotonic() < end and (data := link.recv(1 << 20)):
            got += len(data)
    assert status == 200 and 0 < got < 1 << 20
