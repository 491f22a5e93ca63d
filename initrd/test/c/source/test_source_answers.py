# SPDX-License-Identifier: Apache-2.0
"""Streams and feeds of a source against servers whose answers are unusual, slow or wrong.

Prints TAP. $SLED_TOOLS: builds of tool_*.c.
"""

from __future__ import annotations

import sys
import threading
import time

from fetching import FILE, MIB, bent, expect_all, expect_fault, fetch, partial, whole
from server import Request, Server
from tap import run_tests


def test_no_ranges() -> None:
    """A server that only has whole files will do when it is alone."""

    def rangeless(request: Request) -> None:
        request.file(FILE, ranges=False)

    with Server(rangeless) as s:
        got = fetch("feed", s.url + "/f", streams=1)
        assert got.code == 0 and got.out == FILE, got.error
    with Server(rangeless) as a, Server(whole) as b:
        expect_all(fetch("feed", a.url + "/f", b.url + "/f"))
        assert len(a.seen) <= 2, "the server without ranges was used"
    with Server(lambda r: r.raw(b"HTTP/1.1 200 OK\r\n\r\n" + FILE)) as s:
        expect_fault(fetch("size", s.url + "/f"), "without Content-Length")


def test_slow() -> None:
    """Bytes that trickle keep it waiting; silence ends it."""

    def slow(request: Request) -> None:
        first, last = request.range(len(FILE)) or (0, 0)
        request.raw(partial(first, last))
        for at in range(first, last + 1, MIB):
            request.wfile.write(FILE[at : min(at + MIB, last + 1)])
            time.sleep(0.15)

    with Server(whole, slow) as s:
        expect_all(fetch("feed", s.url + "/f", idle=2))
    gate = threading.Event()
    with Server(whole, lambda r: (r.raw(partial(*(r.range(len(FILE)) or (0, 0))) + b"x"), gate.wait(60))[0]) as s:
        expect_fault(fetch("feed", s.url + "/f", streams=1, idle=2), "no byte received within 2 seconds", "timed out")
        gate.set()


def test_lies() -> None:
    """Answers that are not what was asked for: refused, by name."""
    lies = {
        "another range": [
            lambda a, b: partial(a + 1, b) + FILE[a + 1 : b + 1],
            lambda a, b: partial(a, b + 1) + FILE[a : b + 2],
            lambda a, b: b"HTTP/1.1 206 P\r\nContent-Length: 5\r\n\r\nhello",
            lambda a, b: (
                b"HTTP/1.1 206 P\r\nContent-Type: multipart/byteranges; boundary=x\r\n"
                b"Content-Length: 9\r\n\r\n--x\r\n\r\nab"
            ),
            lambda a, b: (
                b"HTTP/1.1 206 P\r\nContent-Range: bytes %d-%d/%d\r\nContent-Length: 5\r\n\r\nhello" % (b, a, len(FILE))
            ),
        ],
        "bytes for a range of": [
            lambda a, b: partial(a, b, length=b - a + 2) + FILE[a : b + 2],
            lambda a, b: partial(a, b, length=b - a) + FILE[a:b],
        ],
        "on another": [lambda a, b: partial(a, b, total=len(FILE) + 1) + FILE[a : b + 1]],
        "the size of the file": [
            lambda a, b: b"HTTP/1.1 206 P\r\nContent-Range: bytes %d-%d/*\r\n\r\n" % (a, b) + FILE[a : b + 1]
        ],
        "encoded": [lambda a, b: partial(a, b, b"Content-Encoding: gzip\r\n") + FILE[a : b + 1]],
    }
    for words, answers in lies.items():
        for answer in answers:
            with Server(bent(answer)) as s:
                expect_fault(fetch("feed", s.url + "/f", streams=1, idle=60), f"{s.url}/f: ", words)


def test_garbage() -> None:
    with Server(bent(lambda a, b: b"SSH-2.0-OpenSSH_9.2\r\n")) as s:
        expect_fault(fetch("feed", s.url + "/f", idle=1), "not HTTP")
    with Server(bent(lambda a, b: b"HTTP/1.1 206 P\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab")) as s:
        expect_fault(fetch("feed", s.url + "/f", idle=1), "not HTTP")


def test_shorter_range() -> None:
    """A server may send less of the range than was asked for."""
    with Server(bent(lambda a, b: partial(a, min(b, a + MIB)) + FILE[a : min(b, a + MIB) + 1])) as s:
        expect_all(fetch("feed", s.url + "/f"))


def test_longer_body() -> None:
    """Bytes after the promised ones are not taken for those of the next answer."""

    def handler(request: Request) -> None:
        first, last = request.range(len(FILE)) or (0, 0)
        request.wfile.write(partial(first, last) + FILE[first : last + 1] + b"HTTP/1.1 404 Not Found\r\n\r\n")
        request.wfile.flush()

    with Server(handler) as s:
        expect_all(fetch("ranges", s.url + "/f", seed=2))


def chunked(first: int, data: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    """A 206 answer in chunks."""
    head = b"HTTP/1.1 206 P\r\nContent-Range: bytes %d-%d/%d\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = b"".join(
        b"%x\r\n%s\r\n" % (len(data[i : i + 70000]), data[i : i + 70000]) for i in range(0, len(data), 70000)
    )
    return head % (first, first + len(data) - 1, len(FILE)) + body + end


def test_chunked() -> None:
    with Server(bent(lambda a, b: chunked(a, FILE[a : b + 1]))) as s:
        expect_all(fetch("feed", s.url + "/f"))
    with Server(bent(lambda a, b: chunked(a, FILE[a : b + 1], b"5\r\nextra\r\n0\r\n\r\n"))) as s:
        expect_all(fetch("feed", s.url + "/f"))
    with Server(bent(lambda a, b: chunked(a, FILE[a : b + 1])[: 2 * MIB])) as s:
        expect_all(fetch("feed", s.url + "/f"))


def test_chunks_end_early() -> None:
    """An end in due form, but before the last byte of the range."""

    def answer(first: int, last: int) -> bytes:
        head, _, body = chunked(first, FILE[first : last + 1]).partition(b"\r\n\r\n")
        return (
            head + b"\r\n\r\n" + body[: 70000 + 9] + b"0\r\n\r\n" if last - first > 70000 else head + b"\r\n\r\n" + body
        )

    with Server(bent(answer)) as s:
        got = fetch("feed", s.url + "/f", streams=4, idle=60, seed=1)
        assert got.code == 0, got.error
        assert all(got.out[at : at + size] == FILE[at : at + size] for at, size in got.pieces)
        assert len(s.seen) > 4


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
