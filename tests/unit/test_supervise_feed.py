# SPDX-License-Identifier: Apache-2.0
"""The event stream of the supervisor, and the threads that carry out its acts."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import ApiError, SledError, Unreachable
from ansible_collections.sled.fleet.plugins.module_utils.supervise.feed import LONGEST_LINE, Feed, messages
from ansible_collections.sled.fleet.plugins.module_utils.supervise.pool import Pool


def lines(text: str) -> Iterable[bytes]:
    return text.encode().splitlines(keepends=True)


def test_messages() -> None:
    text = (
        ': sledd\n\ndata: {"mac": "a"}\n\nid: 7\nevent: x\ndata: {"mac":\ndata: "b"}\n\n'
        'id: nonsense\r\ndata:{"mac": "c"}\r\n\r\n: still here\n\ndata: {"mac": "cut off"'
    )
    assert list(messages(lines(text))) == [(0, {"mac": "a"}), (7, {"mac": "b"}), (0, {"mac": "c"})]


def test_hostile_messages() -> None:
    assert list(messages(lines("data: [1]\n\ndata: {]\n\ndata: 7\n\nid: 9\n\n\n\n"))) == []
    assert list(messages([b"id: " + b"9" * 40 + b"\n", b'data: {"mac": "a"}\n', b"\n"])) == [(0, {"mac": "a"})]
    with pytest.raises(SledError, match="a line has more than"):
        list(messages([b"data: " + b"x" * LONGEST_LINE]))


class Streams:
    """A client whose streams are given; an error instead of a text is raised when that one is opened."""

    def __init__(self, *streams: str | SledError) -> None:
        self.streams, self.after = list(streams), list[int]()
        self.done = threading.Event()

    @contextmanager
    def events(self, after: int = 0) -> Iterator[Iterable[bytes]]:
        if self.done.is_set():
            raise Unreachable("the test has ended")
        self.after.append(after)
        if not self.streams:
            self.done.set()
            raise Unreachable("the test has ended")
        stream = self.streams.pop(0)
        if isinstance(stream, SledError):
            raise stream
        yield lines(stream)


def follow(monkeypatch: pytest.MonkeyPatch, *streams: str | SledError) -> tuple[list[int], list[str]]:
    """Follows all streams; returns where each began, and the nodes that moved."""
    monkeypatch.setattr("ansible_collections.sled.fleet.plugins.module_utils.supervise.feed.SHORTEST_PAUSE", 0.0)
    client, moved = Streams(*streams), list[str]()
    feed: Any = Feed(client, moved.append)  # type: ignore[arg-type]
    feed.start()
    assert client.done.wait(60)
    feed.stop()
    return client.after, moved


def test_it_resumes_where_it_was_and_reads_all_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = 'id: 3\ndata: {"mac": "a"}\n\n', 'id: 5\ndata: {"mac": "b"}\n\n'
    after, moved = follow(monkeypatch, first, Unreachable("no route"), second)
    assert after == [0, 3, 3, 5]
    assert moved == ["", "a", "", "b"], "whoever opens a stream may have missed something"


def test_it_starts_anew_after_events_that_sledd_holds_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = ApiError("GET", 410, {})
    after, moved = follow(monkeypatch, 'id: 3\ndata: {"mac": "a"}\n\n', gone, 'data: {"mac": "b"}\n\n')
    assert after == [0, 3, 0, 0]
    assert moved == ["", "a", "", "b"]


def test_jobs_of_a_node_run_in_order_and_no_more_at_once_than_threads() -> None:
    pool, done, lock, gate = Pool(3), list[tuple[str, int]](), threading.Lock(), threading.Semaphore(0)
    at_once, most = 0, 0

    def job(key: str, number: int) -> None:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        gate.acquire(timeout=60)
        with lock:
            at_once -= 1
            done.append((key, number))
            if len(done) == 40:
                ended.set()

    ended = threading.Event()
    for number in range(8):
        for key in "abcde":
            pool.submit(key, lambda key=key, number=number: job(key, number))  # type: ignore[misc]
    gate.release(40)
    assert ended.wait(60)
    assert most <= 3
    for key in "abcde":
        assert [number for name, number in done if name == key] == list(range(8))
