# SPDX-License-Identifier: Apache-2.0
"""Waits until nodes have what their bindings request, and explains why some have not: the core, without acts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.supervise.core import (
    DONE,
    FAILED,
    WATCHING,
    Away,
    Goal,
    Look,
    Policy,
    State,
    advance,
)
from ansible_collections.sled.fleet.plugins.module_utils.supervise.nodes import passing, read
from ansible_collections.sled.fleet.plugins.module_utils.supervise.patience import ANY, Patience
from ansible_collections.sled.fleet.plugins.module_utils.waiting import LONGEST_AWAY, detail, requested_generation

LOG_LINES = 20  # of a failed node's log, in the result
LOGS = 8  # failed nodes whose log is read
OUTCOMES = {DONE: "ready", FAILED: "failed", WATCHING: "pending"}  # in the order of a result


@dataclass(frozen=True)
class Target:
    """What is waited for."""

    nodes: list[str]
    require: int  # how many of the nodes
    goal: Goal = field(default_factory=Goal)
    fail_fast: bool = True
    timeout: float = 1800.0  # seconds
    silent: Mapping[str, float] = field(default_factory=dict)  # limits of silence by step; empty: none
    interval: float = 2.0  # seconds between two polls

    @property
    def policy(self) -> Policy:
        """That of the core: no entry method, so no acts."""
        return Policy(methods={}, silent=self.silent or {ANY: float("inf")}, goal=self.goal)


class Watch:
    """The nodes of a target, as they were seen last."""

    def __init__(self, target: Target) -> None:
        self.target, self._policy = target, target.policy
        self.states = {name: State(name, WATCHING, patience=Patience(self._policy.silent)) for name in target.nodes}
        self.nodes: dict[str, Json] = {}

    def look(self, client: Client, now: Callable[[], float]) -> None:
        """Reads every node once. A node that sledd does not know ends the wait."""
        self.nodes = read(client, self.target.nodes)
        for name in self.target.nodes:
            if name not in self.nodes:
                raise SledError(f"node {name} does not exist")
            self._advance(name, Look(now(), self.nodes[name], ""))

    def away(self, now: float, reason: str) -> None:
        """Sledd did not answer."""
        for name in self.states:
            self._advance(name, Away(now, reason))

    def _advance(self, name: str, event: Look | Away) -> None:
        self.states[name], _ = advance(self.states[name], event, self._policy)

    def of(self, stage: str) -> list[str]:
        """The nodes in a stage."""
        return sorted(name for name, state in self.states.items() if state.stage == stage)

    @property
    def decided(self) -> bool:
        """Whether another poll cannot change the result."""
        pending = self.of(WATCHING)
        still = sum(bool(self.states[name].reason) for name in pending)
        ready, failed = len(self.of(DONE)), len(self.of(FAILED))
        if ready >= self.target.require or still == len(pending):
            return True
        return self.target.fail_fast and len(self.states) - failed - still < self.target.require

    def entries(self) -> list[Json]:
        """One entry a node, for a result."""
        return [self._entry(name, outcome) for stage, outcome in OUTCOMES.items() for name in self.of(stage)]

    def _entry(self, name: str, outcome: str) -> Json:
        node, silent = self.nodes[name], self.states[name].reason if outcome == "pending" else ""
        words = ": ".join(word for word in (detail(name, node, outcome), silent) if word)
        return {"node": name, "outcome": outcome, "detail": words, **summary(node)}


def summary(node: Json) -> Json:
    """The observed part of a node that explains an outcome."""
    status = node["status"]
    return {
        "name": node.get("name", ""),
        "mac": node["mac"],
        "phase": status.get("phase", ""),
        "generation": status.get("generation", 0),
        "desired_generation": requested_generation(node),
        "image": status.get("image", ""),
        "verb": status.get("verb", ""),
        "code": status.get("code", 0),
        "reason": status.get("reason", ""),
    }


def wait(
    client: Client,
    target: Target,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> Watch:
    """Polls until the result is decided or the time is up. sledd may be unreachable in between, but not at the end.

    With limits of silence it may be unreachable for LONGEST_AWAY, and that time counts for no node.
    """
    watch, answered = Watch(target), clock()
    end = answered + target.timeout
    while True:
        trouble: SledError | None = None
        try:
            watch.look(client, clock)
        except SledError as error:
            if not passing(error):
                raise
            trouble = error
            watch.away(clock(), str(error))
            if target.silent and clock() - answered >= LONGEST_AWAY:
                raise
        else:
            answered = clock()
            if watch.decided:
                return watch
        left = end - clock()
        if left <= 0:
            if trouble:
                raise trouble
            return watch
        pause(min(target.interval, left))


def last_lines(log: str) -> list[str]:
    """The end of the failed step's log, before the kernel log."""
    return log.partition("--- dmesg")[0].strip().splitlines()[-LOG_LINES:]


def add_logs(client: Client, entries: list[Json]) -> None:
    """Adds the end of their log to failed nodes. A log that cannot be read does not hide the failure."""
    for entry in [e for e in entries if e["outcome"] == "failed"][:LOGS]:
        try:
            entry["log"] = last_lines(client.log(entry["mac"]))
        except SledError as error:
            entry["log"] = [f"the log cannot be read: {error}"]


def report(client: Client, watch: Watch) -> Json:
    """A module's result: every node with its outcome, and in msg why nodes are not ready."""
    entries, target = watch.entries(), watch.target
    add_logs(client, entries)
    lines = [f"{entry['node']} failed: {entry['detail']}" for entry in entries if entry["outcome"] == "failed"]
    lines += [entry["detail"] for entry in entries if entry["outcome"] == "pending"]
    ready = watch.of(DONE)
    enough = len(ready) >= target.require
    head = f"{len(ready)} of {len(target.nodes)} nodes ready, {target.require} required"
    if watch.of(WATCHING) and not enough and not watch.decided:
        head += f", after {target.timeout:g} s"
    return {
        "changed": False,
        "failed": not enough,
        "msg": "; ".join([head, *lines]),
        "nodes": entries,
        "ready": ready,
        "not_ready": sorted([*watch.of(FAILED), *watch.of(WATCHING)]),
    }
