# SPDX-License-Identifier: Apache-2.0
"""What operators and admitted nodes do during a flood, and how long each request takes them."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from ansible_collections.sled.fleet.tests.hostile.machine import Machine
from ansible_collections.sled.fleet.tests.hostile.site import DEADLINE, Site

PAUSE = 0.25  # seconds between two nodes
LARGE = 60 << 10  # bytes of user data, by which operators fill a store
TURNS = 5000  # of them at most


@dataclass
class Times:
    """Seconds that requests of one kind took, and why some failed."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def percentile(self, percent: int) -> float:
        """The time that so many percent did not exceed."""
        return sorted(self.seconds)[len(self.seconds) * percent // 100] if self.seconds else float("inf")

    def __str__(self) -> str:
        text = ", ".join(f"p{percent} {self.percentile(percent):.3f} s" for percent in (50, 99))
        slowest = max(self.seconds, default=float("inf"))
        return f"{len(self.seconds)} times, {text}, max {slowest:.3f} s, {len(self.errors)} errors {self.errors[:2]}"


class Work:
    """While it is entered, binds nodes, deletes the bindings, and lets the nodes request their plans, in turn."""

    def __init__(self, site: Site, nodes: list[Machine]) -> None:
        self._site, self._nodes = site, nodes
        self.done = {what: Times() for what in ("bind", "plan", "delete", "plan without a binding")}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Work:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        for node in itertools.cycle(self._nodes):
            if self._over.wait(PAUSE):
                return
            self._measure("bind", node, node.image)
            self._measure("plan", node, node.plan)
            self._measure("delete", node, partial(self._site.operator, "DELETE", f"/v1/bindings/{node.name}"))
            self._measure("plan without a binding", node, partial(polled, node))

    def _measure(self, what: str, node: Machine, do: Callable[[], object]) -> None:
        begin = time.monotonic()
        try:
            do()
        except (AssertionError, http.client.HTTPException, OSError) as error:
            self.done[what].errors.append(f"{node.name}: {error}")
        self.done[what].seconds.append(time.monotonic() - begin)


def polled(node: Machine) -> None:
    """A poll of a node that may have no plan."""
    answer = node.say("GET", f"plan?run={node.run}")
    assert answer.status in (200, 204), answer
    if answer.status == 200:
        node.received(answer)
    node.token = answer.token or node.token


@dataclass
class Healed:
    """How a store that was full became usable again."""

    ready: Counter[int]  # answers of /readyz
    seconds: float  # from the first write that was refused to the first that was taken


def fill_up(site: Site, node: Machine) -> Healed:
    """Operators fill the store with the user data of one binding, until it is full and for as long as it is."""
    ready: Counter[int] = Counter()
    refused = 0.0
    with watch(site, ready):
        for turn in range(TURNS):
            spec = {"node": node.name, "image": "d12", "user_data": f"#!{turn} " + "x" * (LARGE if not refused else 9)}
            status = site.operator("PUT", f"/v1/bindings/{node.name}", spec, check=False).status
            if status == 503 and not refused:
                refused = time.monotonic()
            if status == 200 and refused:
                return Healed(ready, time.monotonic() - refused)
            assert status in (200, 503), status
            time.sleep(0.1 if refused else 0)
    raise AssertionError("the store was not full" if not refused else "the store was not healed")


@contextlib.contextmanager
def watch(site: Site, ready: Counter[int]) -> Iterator[None]:
    """Counts the answers of /readyz while it is entered."""
    over = threading.Event()

    def run() -> None:
        while not over.wait(0.05):
            ready[site.operator("GET", "/readyz", check=False).status] += 1

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(DEADLINE)
