# SPDX-License-Identifier: Apache-2.0
"""Waits until nodes have what their bindings request, and explains why some have not."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone

from ansible_collections.sled.fleet.plugins.module_utils.client import ApiError, Client, Json, SledError, Unreachable
from ansible_collections.sled.fleet.plugins.module_utils.supervise.patience import Patience
from ansible_collections.sled.fleet.plugins.module_utils.words import CODES, PHASES, WORKING

LOG_LINES = 20  # of a failed node's log, in the result
LONGEST_AWAY = 900.0  # seconds for which sledd may be away from a wait with limits of silence
LOGS = 8  # failed nodes whose log is read
SILENT = 90.0  # seconds after which a node no longer counts as one that polls for its plan
WAITABLE = [phase for phase in PHASES if phase not in ("discovered", "failed")]
ENTERED = (*WORKING, "starting")  # phases of a node that executes its plan


@dataclass(frozen=True)
class Target:
    """What is waited for. Without a phase: what each node's binding requests."""

    nodes: list[str]
    require: int  # how many of the nodes
    phase: str | None = None
    generation: int | None = None  # lowest that counts; None: the binding's
    stage: str = "done"  # entered, starting or done; without a phase
    known: str | None = None  # time of a failure that is known already and does not count
    fail_fast: bool = True
    timeout: float = 1800.0  # seconds
    silent: Mapping[str, float] = field(default_factory=dict)  # limits of silence by step; empty: none
    interval: float = 2.0  # seconds between two polls


@dataclass
class Observation:
    """The nodes at one time, by the names that the caller used."""

    ready: dict[str, Json] = field(default_factory=dict)
    failed: dict[str, Json] = field(default_factory=dict)
    pending: dict[str, Json] = field(default_factory=dict)
    patience: dict[str, Patience] = field(default_factory=dict)  # with limits of silence, of pending nodes

    def still(self, name: str) -> bool:
        """Whether a pending node has stood still for too long."""
        return name in self.patience and self.patience[name].over(self.pending[name]["status"])

    def entries(self) -> list[Json]:
        """One entry a node, for a result."""
        groups = (("ready", self.ready), ("failed", self.failed), ("pending", self.pending))
        return [
            {"node": name, "outcome": outcome, "detail": self._detail(name, node, outcome), **summary(node)}
            for outcome, nodes in groups
            for name, node in sorted(nodes.items())
        ]

    def _detail(self, name: str, node: Json, outcome: str) -> str:
        text = detail(name, node, outcome)
        return f"{text}: {self.patience[name].words(node['status'])}" if self.still(name) else text


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


def requested_generation(node: Json) -> int:
    """The generation of the node's binding, 0 without one."""
    return int((node.get("binding") or {}).get("generation", 0))


def judge(
    node: Json,
    phase: str | None = None,
    generation: int | None = None,
    stage: str = "done",
    known: str | None = None,
) -> str:
    """Returns ready, failed or pending. Whether a binding is satisfied is sledd's decision, never made here."""
    status = node["status"]
    lowest = requested_generation(node) if generation is None else generation
    current = status.get("generation", 0) >= lowest
    wanted = (phase,) if phase else reached(stage)
    if (current and status.get("phase") in wanted) or (not phase and done(node, lowest)):
        return "ready"
    failed = current and status.get("generation", 0) >= requested_generation(node) and status.get("phase") == "failed"
    return "failed" if failed and not (known and status.get("since") == known) else "pending"


def done(node: Json, lowest: int) -> bool:
    """Whether the node has what its binding requests; one without a binding, whether it ended its last plan."""
    binding, status = node.get("binding"), node["status"]
    if binding:
        return bool(binding.get("satisfied")) and requested_generation(node) >= lowest
    return status.get("generation", 0) >= lowest and status.get("phase") in ("operational", "wiped", "captured")


def reached(stage: str) -> tuple[str, ...]:
    """The phases before the end that suffice for a stage."""
    return {"entered": ENTERED, "starting": ("starting",)}.get(stage, ())


def activity(node: Json, now: datetime) -> str:
    """What the node does: working, waiting for a plan, running an installed system, or unknown."""
    status = node["status"]
    phase, behind = status.get("phase"), status.get("generation", 0) < requested_generation(node)
    if node.get("binding") and status.get("generation", 0) == requested_generation(node) and phase in ENTERED:
        return "working"
    if phase in ("operational", "captured"):
        return "running"
    polls = phase in ("idle", "wiped", "booting") or (phase == "failed" and behind)
    return "waiting" if polls and silence(status, now) < SILENT else "unknown"


def silence(status: Json, now: datetime) -> float:
    """Seconds since the node was seen."""
    if not status.get("seen"):
        return float("inf")
    seen = datetime.strptime(status["seen"][:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    return (now - seen).total_seconds()


def observe(client: Client, target: Target) -> Observation:
    """Reads every node once. A node that sledd does not know ends the wait."""
    seen = Observation()
    for name in target.nodes:
        node = client.find("nodes", name)
        if node is None:
            raise SledError(f"node {name} does not exist")
        getattr(seen, judge(node, target.phase, target.generation, target.stage, target.known))[name] = node
    return seen


def decided(seen: Observation, target: Target) -> bool:
    """Whether another poll cannot change the result."""
    still = sum(seen.still(name) for name in seen.pending)
    if len(seen.ready) >= target.require or still == len(seen.pending):
        return True
    return target.fail_fast and len(target.nodes) - len(seen.failed) - still < target.require


def detail(name: str, node: Json, outcome: str) -> str:
    """Why a node is not ready, in one line; empty for one that is."""
    status = node["status"]
    if outcome == "ready":
        return ""
    if outcome == "failed":
        code = status.get("code", 0)
        words = [status.get("verb", ""), f"code {code} {CODES.get(code, '')}".rstrip(), status.get("reason", "")]
        return ": ".join(word for word in words if word)
    requested = requested_generation(node)
    text = f"{name} is {status.get('phase') or 'not seen yet'}, generation {status.get('generation', 0)}"
    return text + (f" (requested {requested})" if requested != status.get("generation", 0) else "")


def wait(
    client: Client,
    target: Target,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> Observation:
    """Polls until the result is decided or the time is up. sledd may be unreachable in between, but not at the end.

    With limits of silence it may be unreachable for LONGEST_AWAY, and that time counts for no node.
    """
    end = clock() + target.timeout
    answered = clock()
    patience: dict[str, Patience] = {}
    while True:
        trouble: SledError | None = None
        try:
            seen = observe(client, target)
        except Unreachable as error:
            trouble = error
        except ApiError as error:
            if error.status < 500:
                raise
            trouble = error
        if trouble:
            patience = {name: one.away() for name, one in patience.items()}
            if target.silent and clock() - answered >= LONGEST_AWAY:
                raise trouble
        else:
            answered = clock()
            patience = seen.patience = _look(patience, seen, target, answered)
            if decided(seen, target):
                return seen
        left = end - clock()
        if left <= 0:
            if trouble:
                raise trouble
            return seen
        pause(min(target.interval, left))


def _look(before: dict[str, Patience], seen: Observation, target: Target, now: float) -> dict[str, Patience]:
    """The patience with each pending node after a look at it; none without limits."""
    nodes = seen.pending if target.silent else {}
    return {name: before.get(name, Patience(target.silent)).look(now, node["status"]) for name, node in nodes.items()}


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


def report(client: Client, target: Target, seen: Observation) -> Json:
    """A module's result: every node with its outcome, and in msg why nodes are not ready."""
    entries = seen.entries()
    add_logs(client, entries)
    lines = [f"{entry['node']} failed: {entry['detail']}" for entry in entries if entry["outcome"] == "failed"]
    lines += [entry["detail"] for entry in entries if entry["outcome"] == "pending"]
    enough = len(seen.ready) >= target.require
    head = f"{len(seen.ready)} of {len(target.nodes)} nodes ready, {target.require} required"
    if seen.pending and not enough and not decided(seen, target):
        head += f", after {target.timeout:g} s"
    return {
        "changed": False,
        "failed": not enough,
        "msg": "; ".join([head, *lines]),
        "nodes": entries,
        "ready": sorted(seen.ready),
        "not_ready": sorted([*seen.failed, *seen.pending]),
    }
