# SPDX-License-Identifier: Apache-2.0
"""What the loop runs with: a sledd that is read and whose events are followed, and threads for actions."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Sequence
from datetime import datetime, timezone

from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.nodes import read
from ansible_collections.sled.fleet.plugins.module_utils.supervise.actions import Actions
from ansible_collections.sled.fleet.plugins.module_utils.supervise.core import Acted, Action
from ansible_collections.sled.fleet.plugins.module_utils.supervise.event_stream import EventStream
from ansible_collections.sled.fleet.plugins.module_utils.supervise.loop import AWAITED, TOUCHING, Ended
from ansible_collections.sled.fleet.plugins.module_utils.supervise.settings import Settings
from ansible_collections.sled.fleet.plugins.module_utils.supervise.threads import Queues, ThreadPool
from ansible_collections.sled.fleet.plugins.module_utils.waiting import activity

LOGINS = 32  # nodes at once whose system is verified over SSH
SESSIONS = 64  # nodes whose power is read or switched at once; each BMC has one session
WORDS = 32  # nodes at once of which something is reported to sledd; ends go together
LONGEST_WAIT = 1.0  # seconds until it is noticed that the playbook was killed
WARM = 8  # warm starts at once: each sends some 30 MB


class PlaybookEnded(SledError):
    """Nobody may act any more."""


class RealRuntime:
    """Sledd, the clock of this machine, and its threads. See loop.Runtime."""

    def __init__(self, client: Client, actions: Actions, warm: int = WARM) -> None:
        self._client, self._actions = client, actions
        self._stream = EventStream(client, self._hear)
        # Apart, so that slow BMCs hold up neither warm starts nor what is reported to sledd.
        self._power, self._warm, self._words = ThreadPool(SESSIONS), ThreadPool(max(warm, 1)), ThreadPool(WORDS)
        self._logins = ThreadPool(LOGINS)
        self._queues = Queues()
        self._ended: queue.SimpleQueue[Ended | None] = queue.SimpleQueue()
        self._stir = threading.Event()
        self._macs: set[str] | None = None  # of the nodes, once they were read
        self._nodes: dict[str, Json] = {}  # as they were read last
        self._parent = os.getppid()

    def __enter__(self) -> RealRuntime:
        self._stream.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.stop()

    def now(self) -> float:
        """Seconds of the monotonic clock."""
        return time.monotonic()

    def live(self) -> bool:
        """Whether the event stream is open."""
        return self._stream.live

    def check(self) -> None:
        """Raises PlaybookEnded when it has: the same command again follows the nodes, and two must not."""
        if os.getppid() != self._parent:
            raise PlaybookEnded("the playbook that supervises has ended")

    def pause(self, seconds: float) -> None:
        """Does nothing for a while. Raises PlaybookEnded."""
        end = self.now() + seconds
        while (left := end - self.now()) > 0:
            self.check()
            time.sleep(min(left, LONGEST_WAIT))
        self.check()

    def moved(self) -> bool:
        """Whether an event of a node came since the last question."""
        moved = self._stir.is_set()
        self._stir.clear()
        return moved

    def activity(self, node: Json) -> str:
        """What a node does."""
        return activity(node, datetime.now(timezone.utc))

    def read(self, nodes: Sequence[str]) -> dict[str, Json]:
        """Reads the nodes."""
        found = read(self._client, nodes)
        self._macs = (self._macs or set()) | {node["mac"] for node in found.values()}
        self._nodes |= found
        return found

    def start(self, settings: Settings, actions: list[Action]) -> None:
        """Starts a job of a node, after its earlier ones."""
        node = self._nodes.get(settings.node) or {}
        self._queues.submit(self._pool(actions), settings.name, lambda: self._work(settings, actions, node))

    def _pool(self, actions: list[Action]) -> ThreadPool:
        touching = [action for action in actions if action.verb in TOUCHING]
        if any(action.method == "warm" for action in touching):
            return self._warm
        if any(action.verb == "verify" for action in actions):
            return self._logins
        return self._power if touching or not actions else self._words

    def wait(self, seconds: float) -> list[Ended]:
        """Waits for the end of a job, or an event of a node; at most a second. Raises PlaybookEnded."""
        self.check()
        seconds = min(seconds, LONGEST_WAIT)
        ended: list[Ended] = []
        try:
            first = self._ended.get(timeout=seconds) if seconds > 0 else self._ended.get_nowait()
            while True:
                ended += [first] if first else []
                first = self._ended.get_nowait()
        except queue.Empty:
            return ended

    def _hear(self, mac: str) -> None:
        """An event came, in the thread of the stream."""
        ours = not mac or self._macs is None or mac in self._macs
        if ours and not self._stir.is_set():
            self._stir.set()
            self._ended.put(None)

    def _work(self, settings: Settings, actions: list[Action], node: Json) -> None:
        """A job, in a thread of a pool. Whatever happens, its end is reported: the wave would wait for it."""
        acted, power = Acted(), ""
        try:
            if actions:
                acted = self._actions.carry_out(settings, actions, node)
            else:
                power = self._actions.power(settings)
        except Exception as error:  # a fault of this program must not hold up the wave
            acted, power = Acted(f"{type(error).__name__}: {error}"), "" if actions else "unknown"
        awaited = any(action.verb in AWAITED for action in actions)
        self._ended.put(Ended(settings.name, acted.reason, power, awaited, acted.final))
