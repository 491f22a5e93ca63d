# SPDX-License-Identifier: Apache-2.0
"""The event stream of the supervisor, and the threads that carry out its actions."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import ApiError, Client, Json, SledError, Unreachable
from ansible_collections.sled.fleet.plugins.module_utils.supervise.core import Acted, Action, Policy
from ansible_collections.sled.fleet.plugins.module_utils.supervise.event_stream import EventStream, lines, messages
from ansible_collections.sled.fleet.plugins.module_utils.supervise.runtime import SESSIONS, RealRuntime
from ansible_collections.sled.fleet.plugins.module_utils.supervise.settings import Settings
from ansible_collections.sled.fleet.plugins.module_utils.supervise.threads import Queues, ThreadPool


def lines_of(text: str) -> Iterable[bytes]:
    return text.encode().split(b"\n")


class Parts:
    """A response that comes in parts."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        self.parts = iter(parts)

    def read1(self, size: int) -> bytes:
        return next(self.parts, b"")


def test_messages() -> None:
    text = (
        ': sledd\n\ndata: {"mac": "a"}\n\nid: 7\nevent: x\ndata: {"mac":\ndata: "b"}\n\n'
        'id: nonsense\r\ndata:{"mac": "c"}\r\n\r\n: still here\n\ndata: {"mac": "cut off"'
    )
    assert list(messages(lines_of(text))) == [(0, {"mac": "a"}), (7, {"mac": "b"}), (0, {"mac": "c"})]


def test_hostile_messages() -> None:
    assert list(messages(lines_of("data: [1]\n\ndata: {]\n\ndata: 7\n\nid: 9\n\n\n\n"))) == []
    assert list(messages([b"id: " + b"9" * 40 + b"\n", b'data: {"mac": "a"}\n', b"\n"])) == [(0, {"mac": "a"})]


def test_lines_come_whole_wherever_they_are_cut() -> None:
    text = b'id: 7\r\ndata: {"mac": "a"}\n\n: sledd\nid: 8'
    for size in range(1, len(text) + 1):
        parts = Parts(text[at : at + size] for at in range(0, len(text), size))
        assert list(lines(parts)) == [b"id: 7\r", b'data: {"mac": "a"}', b"", b": sledd"]


def test_a_line_comes_as_soon_as_it_has_an_end() -> None:
    def parts() -> Iterator[bytes]:
        yield b"id: 7\nda"
        raise AssertionError("it was not asked for")

    assert next(lines(Parts(parts()))) == b"id: 7"


def test_an_endless_line() -> None:
    with pytest.raises(SledError, match="a line has more than"):
        list(lines(Parts(itertools.repeat(b"x" * 1000))))


class Streams:
    """A client whose streams are given; an error instead of a text is raised when that one is opened."""

    def __init__(self, *streams: str | SledError) -> None:
        self.streams, self.after = list(streams), list[int]()
        self.done = threading.Event()

    @contextmanager
    def events(self, after: int = 0) -> Iterator[Parts]:
        if self.done.is_set():
            raise Unreachable("the test has ended")
        self.after.append(after)
        if not self.streams:
            self.done.set()
            raise Unreachable("the test has ended")
        stream = self.streams.pop(0)
        if isinstance(stream, SledError):
            raise stream
        yield Parts([stream.encode()])


def follow(monkeypatch: pytest.MonkeyPatch, *streams: str | SledError) -> tuple[list[int], list[str]]:
    """Follows all streams; returns where each began, and the nodes that moved."""
    monkeypatch.setattr(
        "ansible_collections.sled.fleet.plugins.module_utils.supervise.event_stream.SHORTEST_PAUSE", 0.0
    )
    client, moved = Streams(*streams), list[str]()
    stream: Any = EventStream(client, moved.append)  # type: ignore[arg-type]
    stream.start()
    assert client.done.wait(60)
    stream.stop()
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
    pools, queues = [ThreadPool(3), ThreadPool(2)], Queues()
    done, lock, gate = list[tuple[str, int]](), threading.Lock(), threading.Semaphore(0)
    at_once, most = [0, 0], [0, 0]

    def job(key: str, number: int, pool: int) -> None:
        with lock:
            at_once[pool] += 1
            most[pool] = max(most[pool], at_once[pool])
        gate.acquire(timeout=60)
        with lock:
            at_once[pool] -= 1
            done.append((key, number))
            if len(done) == 40:
                ended.set()

    ended = threading.Event()
    for number in range(8):
        for key in "abcde":
            pool = number % 2
            queues.submit(pools[pool], key, functools.partial(job, key, number, pool))
    gate.release(40)
    assert ended.wait(60)
    assert most[0] <= 3 and most[1] <= 2
    for key in "abcde":
        assert [number for name, number in done if name == key] == list(range(8))


def a_world(actions: Any) -> RealRuntime:
    return RealRuntime(Client("https://127.0.0.1:9", "x" * 32), actions)


class SlowPower:
    """Actions of which those that switch wait until they may."""

    def __init__(self) -> None:
        self.done, self.may = list[tuple[str, str]](), threading.Event()

    def carry_out(self, settings: Settings, actions: list[Action], node: Json) -> Acted:
        for action in actions:
            if action.verb == "enter":
                assert self.may.wait(60)
            self.done.append((settings.name, action.verb))
        return Acted()

    def power(self, settings: Settings) -> str:
        assert self.may.wait(60)
        return "on"


def ended_of(runtime: RealRuntime, count: int) -> list[str]:
    names = list[str]()
    while len(names) < count:
        names += [one.name for one in runtime.wait(1)]
    return names


@pytest.mark.parametrize("method", ["warm", "power"])
def test_an_end_is_not_reported_before_the_entry(method: str) -> None:
    actions, node = SlowPower(), Settings("n1", "n1", Policy({}, {}))
    runtime = a_world(actions)
    runtime.start(node, [Action("note", method, method), Action("enter", method)])
    runtime.start(node, [Action("note", method, "failed")])
    runtime.start(node, [Action("end", method, "failed")])
    runtime.start(Settings("n2", "n2", Policy({}, {})), [Action("end")])
    assert ended_of(runtime, 1) == ["n2"], "of another node it is"
    actions.may.set()
    assert ended_of(runtime, 3) == ["n1"] * 3
    assert [verb for name, verb in actions.done if name == "n1"] == ["note", "enter", "note", "end"]


def test_slow_bmcs_hold_up_no_reports_to_sledd() -> None:
    actions = SlowPower()
    runtime = a_world(actions)
    for i in range(2 * SESSIONS):
        runtime.start(Settings(f"n{i}", f"n{i}", Policy({}, {})), [])
    runtime.start(Settings("one", "one", Policy({}, {})), [Action("end")])
    assert ended_of(runtime, 1) == ["one"]
    actions.may.set()
