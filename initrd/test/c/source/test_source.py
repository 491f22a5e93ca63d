# SPDX-License-Identifier: Apache-2.0
"""Streams and feeds of a source against servers that cut, refuse and go away.

Prints TAP. $SLED_TOOLS: builds of tool_*.c.
"""

from __future__ import annotations

import random
import sys
import threading
import time

from fetching import FILE, MIB, Fetched, expect_all, expect_fault, fetch, pki, says, whole, work
from server import Request, Server
from tap import run_tests

chance = random.Random(1)


def cutting(request: Request) -> None:
    """Serves the file, but half of the answers end early."""
    request.file(FILE, cut=chance.choice([None, chance.randrange(4 * MIB)]))


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
        expect_fault(
            fetch("feed", s.url + "/f", idle=3), "no byte received within 3 seconds", "responded with status 429"
        )
        assert len(s.seen) == 1, "asked again too soon"
    with Server(says(503)) as s:
        expect_fault(
            fetch("feed", s.url + "/f", idle=2), "no byte received within 2 seconds", "responded with status 503"
        )
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
            f"{a.url}/f: responded with status 404",
            f"{b.url}/f: responded with status 403",
            f"{c.url}/f: certificate refused",
            "responded with status 301",
        )
        assert len(a.seen) == len(b.seen) == len(d.seen) == 1 and not c.seen


def test_refused_by_some() -> None:
    with Server(says(404)) as a, Server(whole, pki=pki, name="other_name") as b, Server(whole) as s:
        expect_all(fetch("feed", a.url + "/f", b.url + "/f", s.url + "/f"))
        assert len(a.seen) == 1


def test_gone_half_way() -> None:
    with Server(whole, lambda r: r.file(FILE, cut=MIB), says(410)) as s:
        expect_fault(fetch("feed", s.url + "/f", streams=1), f"{s.url}/f: responded with status 410")


def test_nobody_listens() -> None:
    expect_fault(
        fetch("size", "http://127.0.0.1:1/f", idle=1),
        "no byte received within 1 seconds",
        "http://127.0.0.1:1/f",
        "refused",
    )


def test_another_file() -> None:
    with Server(whole) as a, Server(lambda r: r.file(FILE + b"x")) as b:
        expect_all(fetch("feed", a.url + "/f", b.url + "/f"))
        assert len(b.seen) <= 2, "each stream that began there has asked it more than once"
    with Server(whole, says(404)) as a, Server(lambda r: r.file(FILE + b"x")) as b:
        got = fetch("feed", a.url + "/f", b.url + "/f")
        expect_fault(got, f"{b.url}/f: the file has {len(FILE) + 1} bytes on this server, {len(FILE)} on another")


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
