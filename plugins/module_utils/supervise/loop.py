# SPDX-License-Identifier: Apache-2.0
"""Follows all nodes of a wave in one loop: reads them, advances the core, and has its actions carried out.

What it is given (class Runtime) reads the clock, sledd and the ends of actions, so that a test replaces it whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.nodes import passing
from ansible_collections.sled.fleet.plugins.module_utils.supervise.core import (
    CHOOSING,
    CONFIRMING,
    DONE,
    ENDED,
    ENTERING,
    FAILED,
    IMAGING,
    Acted,
    Action,
    Away,
    Look,
    State,
    advance,
)
from ansible_collections.sled.fleet.plugins.module_utils.supervise.settings import Settings
from ansible_collections.sled.fleet.plugins.module_utils.waiting import done

INTERVAL = 10.0  # seconds between two reads while the event stream is open and nothing happens
ALONE = 2.0  # the same without the stream
GAP, EACH = 0.02, 0.001  # seconds between two reads, whatever happens: at least, and for each node that is followed
FRESH = 1.0  # seconds for which a choice may follow from what was read: the power state is read in between
SHARE = 10.0  # the same as a multiple of the seconds that a read takes: the switching of nodes has the rest
WAITING = (ENTERING, IMAGING, CONFIRMING)  # stages with limits of silence
TOUCHING = ("enter", "disk", "network")  # verbs of actions that change a node
AWAITED = (*TOUCHING, "verify")  # verbs of actions whose end the core awaits


class Ended(NamedTuple):
    """A job of a node has ended."""

    name: str
    reason: str = ""  # why it failed
    power: str = ""  # the power state, if it was to be read
    awaited: bool = False  # the core waits for this end
    final: bool = False  # the same again would fail too


class Runtime(Protocol):
    """What a wave is followed with."""

    def now(self) -> float:
        """Seconds of a clock that only advances."""

    def read(self, nodes: Sequence[str]) -> dict[str, Json]:
        """Reads nodes of sledd, by the names of the request; those that do not exist are missing. Raises SledError."""

    def activity(self, node: Json) -> str:
        """What a node does: working, waiting, running or unknown."""

    def start(self, settings: Settings, actions: list[Action]) -> None:
        """Starts a job: carries out the actions, or reads the power state if there are none."""

    def wait(self, seconds: float) -> list[Ended]:
        """Waits for jobs that end, or nodes that move, for so many seconds."""

    def moved(self) -> bool:
        """Whether a node has moved since the last question."""

    def live(self) -> bool:
        """Whether movement is reported."""


@dataclass
class Run:
    """One node of the wave."""

    settings: Settings
    state: State
    begun: float
    node: Json = field(default_factory=dict)  # as read last
    power: str = ""  # as read for the present choice; empty: not yet
    jobs: int = 0
    touched: bool = False  # whether an entry method or another start was tried
    ended: float = 0.0

    @property
    def open(self) -> bool:
        """Whether it is still followed."""
        return self.state.stage not in ENDED

    @property
    def left(self) -> float:
        """Seconds for which it may stand still from now on, while that is what is waited for."""
        if self.state.stage not in WAITING:
            return INTERVAL
        timer = self.state.timer
        return timer.limit(self.node["status"]) - timer.silent

    @property
    def seconds(self) -> float:
        """The time until its end."""
        return self.ended - self.begun

    def outcome(self) -> Json:
        """The result of this node."""
        return {
            "image": (self.node.get("binding") or {}).get("image") or "",
            "state": "done" if self.state.stage == DONE else "failed",
            "entry_method": self.state.method,
            "reason": self.state.reason,
            "changed": self.touched,
            "fallback": bool(self.state.fallen),
            "generation": self.state.generation,
            "seconds": round(self.seconds, 1),
        }


Tell = Callable[[Run, State], None]  # is called with the node and its state before
Tick = Callable[[Sequence[Run]], None]  # is called after each wait, with all nodes


class Loop:
    """Follows the nodes of a wave."""

    def __init__(
        self,
        nodes: Sequence[Settings],
        runtime: Runtime,
        tell: Tell = lambda run, before: None,
        tick: Tick = lambda runs: None,
    ) -> None:
        self._runtime, self._tell, self._tick = runtime, tell, tick
        begun = runtime.now()
        self.runs = {one.name: Run(one, State(one.name), begun) for one in nodes}
        self._read = begun - INTERVAL  # when the nodes were read last
        self._stirred = True  # whether something happened since
        self._gap = GAP
        self._due = INTERVAL  # seconds from then until a node has stood still for too long

    def run(self, spare: Iterator[str] | None = None) -> dict[str, Json]:
        """Follows all nodes to their ends; returns the outcomes by name. Advances `spare` while there is nothing to do.

        A step of it should take milliseconds.
        """
        while any(run.open or run.jobs for run in self.runs.values()):
            pause = self._pause()
            if spare and pause > 0 and not any(run.jobs for run in self.runs.values()) and next(spare, ""):
                pause = 0.0
            for ended in self._runtime.wait(pause):
                self._take(ended)
            if any(run.open for run in self.runs.values()) and self._pause() <= 0:
                self._look()
            self._tick(list(self.runs.values()))
        return {name: run.outcome() for name, run in self.runs.items()}

    def _pause(self) -> float:
        """Seconds until the nodes are to be read."""
        self._stirred = self._runtime.moved() or self._stirred
        interval = self._gap if self._stirred else min(INTERVAL if self._runtime.live() else ALONE, self._due)
        return max(self._read + interval - self._runtime.now(), 0.0)

    def _look(self) -> None:
        """Reads all nodes that are followed, and advances the core by what was seen."""
        followed = [run for run in self.runs.values() if run.open]
        self._stirred, self._read = False, self._runtime.now()
        try:
            nodes = self._runtime.read([run.settings.node for run in followed])
        except SledError as error:
            if not passing(error):
                raise
            for run in followed:
                self._advance(run, Away(self._runtime.now(), str(error)))
            return
        self._gap = min(max(GAP, EACH * len(followed), SHARE * (self._runtime.now() - self._read)), INTERVAL)
        for run in followed:
            if run.settings.node in nodes:
                self._see(run, nodes[run.settings.node])
            else:
                self._missing(run)
        self._due = max(min((run.left for run in followed), default=INTERVAL), self._gap)

    def _see(self, run: Run, node: Json) -> None:
        run.node = node
        choice = run.state.stage == CHOOSING and run.settings.policy.methods and node.get("binding") and not done(node)
        if choice and not run.power:
            if not run.jobs:
                self._start(run, [])  # what is open depends on its power
            return
        settings = run.settings
        activity = self._runtime.activity(node) if run.power != "off" else "unknown"
        here = {"manual": True, "idle": activity == "waiting", "warm": activity == "running"}
        here |= {"power": bool(settings.switched), "wol": bool(settings.woken) and run.power != "on"}
        if node.get("binding", {}).get("hands_over"):  # what runs is another owner's: only a reset ends it
            here |= {"idle": False, "warm": False, "wol": False}
        methods = frozenset(method for method, possible in here.items() if possible)
        self._advance(run, Look(self._runtime.now(), node, activity, methods, bool(settings.switched)))
        if run.state.stage != CHOOSING:
            run.power = ""

    def _missing(self, run: Run) -> None:
        before = run.state
        run.state = before._replace(stage=FAILED, reason=f"node {run.settings.node} does not exist")
        self._end(run, before)

    def _take(self, ended: Ended) -> None:
        run = self.runs[ended.name]
        run.jobs -= 1
        run.power = ended.power or run.power
        self._stirred = True
        if ended.awaited:
            self._advance(run, Acted(ended.reason, ended.final))
        elif ended.power == "off" and run.state.stage == CHOOSING and self._runtime.now() - self._read < FRESH:
            self._see(run, run.node)  # one that is on may have started to move since it was read

    def _advance(self, run: Run, event: Look | Away | Acted) -> None:
        before = run.state
        run.state, actions = advance(before, event, run.settings.policy)
        todo = [action for action in actions if action.verb != "end" or run.settings.rollout]
        run.touched = run.touched or any(action.verb in TOUCHING for action in todo)
        self._end(run, before)
        if todo:
            self._start(run, todo)

    def _end(self, run: Run, before: State) -> None:
        """Reports a change of state."""
        if not run.open:
            run.ended = self._runtime.now()
        if run.state != before:
            self._tell(run, before)

    def _start(self, run: Run, actions: list[Action]) -> None:
        run.jobs += 1
        self._runtime.start(run.settings, actions)
