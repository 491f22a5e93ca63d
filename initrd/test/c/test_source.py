# SPDX-License-Identifier: Apache-2.0
"""Streams and feeds of a source against servers that cut, lie, refuse and go away.

Prints TAP. $SLED_TOOLS: builds of tool_*.c.
"""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from server import Handler, Pki, Request, Server
from tap import run_tests

FETCH = Path(os.environ["SLED_TOOLS"]) / "tool_fetch"
MIB = 1 << 20
FILE = hashlib.shake_128(b"file").digest(20 * MIB + 12345)
work = Path(tempfile.mkdtemp())
pki = Pki(work)
chance = random.Random(1)


class Fetched(NamedTuple):
    """How one run of tool_fetch went."""

    code: int
    error: str
    pieces: list[tuple[int, int]]
    received: int
    wanted: int
    out: bytes


def fetch(mode: str, *urls: str, seed: int = 0, streams: int = 0, idle: int = 20) -> Fetched:
    """One run, with a deadline."""
    out = work / "out"
    run = subprocess.run(
        [FETCH, mode, ",".join(urls), out, str(seed), str(streams), str(idle)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "SLED_CA": str(pki.ca)},
    )
    *lines, last = run.stdout.splitlines() or ["received 0 of 0 wanted 0"]
    words = last.split()
    pieces = [(int(at), int(size)) for at, size in (line.split() for line in lines)]
    return Fetched(run.returncode, run.stderr, pieces, int(words[1]), int(words[5]), out.read_bytes())


def expect_all(got: Fetched, more: int = 1) -> None:
    """The whole file, each byte delivered once; `more` bytes came besides (its size is learnt from one)."""
    assert got.code == 0, got.error
    assert got.out == FILE
    assert sum(size for _, size in got.pieces) == len(FILE) and len({at for at, _ in got.pieces}) == len(got.pieces)
    assert got.received == len(FILE) + more, f"{got.received - len(FILE)} bytes too many"


def expect_fault(got: Fetched, *words: str) -> None:
    """Exit code 6, these words."""
    assert got.code == 6, f"exit {got.code}: {got.error}"
    for word in words:
        assert word in got.error, f"no {word!r} in {got.error!r}"


def whole(request: Request) -> None:
    """Serves the file as it should be."""
    request.file(FILE)


def cutting(request: Request) -> None:
    """Serves the file, but half of the answers end early."""
    request.file(FILE, cut=chance.choice([None, chance.randrange(4 * MIB)]))


def says(status: int, **headers: str) -> Handler:
    """Always that answer."""
    return lambda request: request.answer(status, b"no", **headers)


def test_file() -> None:
    path = work / "file"
    path.write_bytes(FILE)
    for mode in ("ranges", "feed"):
        expect_all(fetch(mode, f"file://{path}", seed=2), more=0)
    got = fetch("size", f"file://{work}/none")
    assert got.code == 1 and "No such file" in got.error, got.error
    got = fetch("size", f"file://{path}", f"file://{path}")
    assert got.code == 2, got.error


def test_ranges() -> None:
    with Server(whole) as s:
        expect_all(fetch("ranges", s.url + "/f", seed=4))
        assert len({r.connection for r in s.seen}) < len(s.seen) // 2, "connections are not kept"
    with Server(whole, pki=pki) as s:
        expect_all(fetch("ranges", s.url + "/f", seed=4))


def test_feed() -> None:
    with Server(whole) as s:
        for streams in (1, 2, 4):
            expect_all(fetch("feed", s.url + "/f", streams=streams))
    with Server(whole, pki=pki) as s:
        expect_all(fetch("feed", s.url + "/f"))


def test_feed_of_some() -> None:
    with Server(whole) as s:
        got = fetch("feed", s.url + "/f", seed=7)
    assert got.code == 0 and 0 < got.wanted < len(FILE) * 2 // 3, got.error
    for at, size in got.pieces:
        assert got.out[at : at + size] == FILE[at : at + size]
    assert got.wanted <= got.received < len(FILE) * 3 // 4, "what is not wanted was read"


def test_feed_stops() -> None:
    gate = threading.Event()

    def waits(request: Request) -> None:
        gate.wait(60)
        whole(request)

    with Server(whole, waits) as s:
        got = fetch("stop", s.url + "/f")
        gate.set()
    assert got.code == 1 and "canceled" in got.error, got.error


def test_cuts() -> None:
    with Server(cutting) as a, Server(cutting) as b:
        expect_all(fetch("ranges", a.url + "/f", b.url + "/f", seed=6, idle=60))
        expect_all(fetch("feed", a.url + "/f", b.url + "/f", seed=6, idle=60))


def test_cuts_of_the_only_server() -> None:
    with Server(lambda r: r.file(FILE, cut=6 * MIB)) as s:
        expect_all(fetch("feed", s.url + "/f", idle=60))


def test_server_restarts() -> None:
    """Gone for longer than a connection, then there again at the same port."""
    first = Server(whole, lambda r: r.file(FILE, cut=3 * MIB), lambda r: r.file(FILE, cut=0))
    with first:
        run: list[Fetched] = []
        thread = threading.Thread(target=lambda: run.append(fetch("feed", first.url + "/f", idle=60)))
        thread.start()
        while len(first.seen) < 4 and thread.is_alive():
            time.sleep(0.02)
    time.sleep(2)
    with Server(whole, port=first.port):
        thread.join()
    expect_all(run[0])


def test_other_server_takes_over() -> None:
    with Server(whole) as s:
        with Server(whole, lambda r: r.file(FILE, cut=MIB), says(500)) as dies:
            expect_all(fetch("feed", dies.url + "/f", s.url + "/f"))
        expect_all(fetch("feed", dies.url + "/f", s.url + "/f"))
        assert len(s.seen) > 2


def test_both_servers_are_used() -> None:
    asked = threading.Event()

    def waits(request: Request) -> None:
        asked.wait(60)
        whole(request)

    def tells(request: Request) -> None:
        asked.set()
        whole(request)

    with Server(whole, waits) as a, Server(tells) as b:
        expect_all(fetch("feed", a.url + "/f", b.url + "/f"))
        assert len(a.seen) > 1 and b.seen


def test_busy() -> None:
    with Server(says(503, Retry_After="1"), whole) as s:
        expect_all(fetch("feed", s.url + "/f"))
    with Server(says(429, Retry_After="86400")) as s:
        expect_fault(fetch("feed", s.url + "/f", idle=3), "no byte within 3 seconds", "answered 429")
        assert len(s.seen) == 1, "asked again too soon"
    with Server(says(503)) as s:
        expect_fault(fetch("feed", s.url + "/f", idle=2), "no byte within 2 seconds", "answered 503")
        assert 2 <= len(s.seen) <= 5, f"{len(s.seen)} requests"


def test_refused_by_all() -> None:
    """At once, with what each said."""
    with (
        Server(says(404)) as a,
        Server(says(403)) as b,
        Server(whole, pki=pki, name="other_ca") as c,
        Server(says(301)) as d,
    ):
        got = fetch("feed", a.url + "/f", b.url + "/f", c.url + "/f", d.url + "/f", idle=100)
        expect_fault(
            got,
            f"{a.url}/f: answered 404",
            f"{b.url}/f: answered 403",
            f"{c.url}/f: certificate refused",
            "answered 301",
        )
        assert len(a.seen) == len(b.seen) == len(d.seen) == 1 and not c.seen


def test_refused_by_some() -> None:
    with Server(says(404)) as a, Server(whole, pki=pki, name="other_name") as b, Server(whole) as s:
        expect_all(fetch("feed", a.url + "/f", b.url + "/f", s.url + "/f"))
        assert len(a.seen) == 1


def test_gone_half_way() -> None:
    with Server(whole, lambda r: r.file(FILE, cut=MIB), says(410)) as s:
        expect_fault(fetch("feed", s.url + "/f", streams=1), f"{s.url}/f: answered 410")


def test_nobody_listens() -> None:
    expect_fault(
        fetch("size", "http://127.0.0.1:1/f", idle=1), "no byte within 1 seconds", "http://127.0.0.1:1/f", "refused"
    )


def test_another_file() -> None:
    with Server(whole) as a, Server(lambda r: r.file(FILE + b"x")) as b:
        expect_all(fetch("feed", a.url + "/f", b.url + "/f"))
        assert len(b.seen) <= 2, "each stream that began there has asked it more than once"
    with Server(whole, says(404)) as a, Server(lambda r: r.file(FILE + b"x")) as b:
        got = fetch("feed", a.url + "/f", b.url + "/f")
        expect_fault(got, f"{b.url}/f: the file has {len(FILE) + 1} bytes here, {len(FILE)} elsewhere")


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
        expect_fault(fetch("size", s.url + "/f"), "no Content-Length")


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
        expect_fault(fetch("feed", s.url + "/f", streams=1, idle=2), "no byte within 2 seconds", "timed out")
        gate.set()


def partial(first: int, last: int, extra: bytes = b"", length: int | None = None, total: int = len(FILE)) -> bytes:
    """Head of a 206 answer."""
    size = last - first + 1 if length is None else length
    return b"HTTP/1.1 206 Partial\r\nContent-Range: bytes %d-%d/%d\r\nContent-Length: %d\r\n%s\r\n" % (
        first,
        last,
        total,
        size,
        extra,
    )


def bent(make: object) -> Handler:
    """A right answer for the size, then what `make` makes of the range."""

    def handler(request: Request) -> None:
        first, last = request.range(len(FILE)) or (0, 0)
        if last == 0:
            request.file(FILE)
        else:
            request.raw(make(first, last))  # type: ignore[operator]

    return handler


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
        "elsewhere": [lambda a, b: partial(a, b, total=len(FILE) + 1) + FILE[a : b + 1]],
        "how long": [lambda a, b: b"HTTP/1.1 206 P\r\nContent-Range: bytes %d-%d/*\r\n\r\n" % (a, b) + FILE[a : b + 1]],
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
