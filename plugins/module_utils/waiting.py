# SPDX-License-Identifier: Apache-2.0
"""Waits until nodes have done what is wished of them, and says why some have not."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ansible_collections.sled.fleet.plugins.module_utils.client import ApiError, Client, Json, SledError, Unreachable

# Exit codes of a node's steps (contract/exit-codes.md).
CODES = {1: "failed", 2: "usage", 3: "not supported", 4: "disk", 5: "integrity", 6: "network"}
LOG_LINES = 20  # of a failed node's log, in the result
LOGS = 8  # failed nodes whose log is read
WORKING = ("wiping", "writing", "configuring", "capturing", "starting")  # phases of a node that does its plan


@dataclass(frozen=True)
class Wish:
    """What is waited for. Without a phase: what each node's binding asks for."""

    nodes: list[str]
    require: int  # how many of the nodes
    phase: str | None = None
    generation: int | None = None  # lowest that counts; None: the binding's
    stage: str = "done"  # how far: entered, starting or done; without a phase
    known: str | None = None  # when the failure began that is known already, and decides nothing
    fail_fast: bool = True
    timeout: float = 1800.0  # seconds
    interval: float = 2.0  # seconds between two looks


@dataclass
class Look:
    """The nodes at one time, by name as asked."""

    ready: dict[str, Json] = field(default_factory=dict)
    failed: dict[str, Json] = field(default_factory=dict)
    pending: dict[str, Json] = field(default_factory=dict)

    def entries(self) -> list[Json]:
        """One entry a node, for a result."""
        parts = (("ready", self.ready), ("failed", self.failed), ("pending", self.pending))
        return [{"node": name, "outcome": what, **summary(node)} for what, nodes in parts for name, node in sorted(nodes.items())]


def summary(node: Json) -> Json:
    """The observed part of a node that explains an outcome."""
    status = node["status"]
    return {
        "name": node.get("name", ""),
        "mac": node["mac"],
        "phase": status.get("phase", ""),
        "generation": status.get("generation", 0),
        "wished_generation": (node.get("binding") or {}).get("generation", 0),
        "image": status.get("image", ""),
        "verb": status.get("verb", ""),
        "code": status.get("code", 0),
        "reason": status.get("reason", ""),
    }


def aims(binding: Json | None) -> tuple[str, ...]:
    """The phases that a wish ends in."""
    if binding is None:
        return ("operational", "wiped", "captured")
    return ("operational" if binding.get("image") else "captured" if binding.get("capture") else "wiped",)


def judge(node: Json, phase: str | None = None, generation: int | None = None, stage: str = "done", known: str | None = None) -> str:
    """Says ready, failed or pending. What was seen of a generation before the one waited for decides nothing."""
    status, binding = node["status"], node.get("binding")
    if generation is None:
        generation = binding["generation"] if binding else 0
    if status.get("generation", 0) < generation:
        return "pending"
    way_there = {"entered": WORKING, "starting": ("starting",)}.get(stage, ())
    wanted = (phase,) if phase else (*aims(binding), *way_there)
    if status.get("phase") in wanted:
        return "ready"
    return "failed" if status.get("phase") == "failed" and not (known and status.get("since") == known) else "pending"


def look(client: Client, wish: Wish) -> Look:
    """Reads every node once. A node that sledd does not know ends the wait."""
    seen = Look()
    for name in wish.nodes:
        node = client.find("nodes", name)
        if node is None:
            raise SledError(f"node {name} does not exist")
        getattr(seen, judge(node, wish.phase, wish.generation, wish.stage, wish.known))[name] = node
    return seen


def settled(seen: Look, wish: Wish) -> bool:
    """Says whether looking again can change nothing that matters."""
    if len(seen.ready) >= wish.require or not seen.pending:
        return True
    return wish.fail_fast and len(wish.nodes) - len(seen.failed) < wish.require


def explain(name: str, node: Json, outcome: str) -> str:
    """One line on why a node is not ready."""
    status = node["status"]
    if outcome == "failed":
        code = status.get("code", 0)
        words = [f"{name} failed", status.get("verb", ""), f"code {code} {CODES.get(code, '')}".rstrip(), status.get("reason", "")]
        return ": ".join(word for word in words if word)
    wished = (node.get("binding") or {}).get("generation", 0)
    text = f"{name} is {status.get('phase') or 'not seen yet'}, generation {status.get('generation', 0)}"
    return text + (f" (wished {wished})" if wished != status.get("generation", 0) else "")


def wait(client: Client, wish: Wish, clock: Callable[[], float] = time.monotonic, pause: Callable[[float], None] = time.sleep) -> Look:
    """Looks until it is settled or time is up, and returns the last look. sledd may be away in between, but not at the end."""
    end = clock() + wish.timeout
    while True:
        trouble: SledError | None = None
        try:
            seen = look(client, wish)
            if settled(seen, wish):
                return seen
        except Unreachable as error:
            trouble = error
        except ApiError as error:
            if error.status < 500:
                raise
            trouble = error
        left = end - clock()
        if left <= 0:
            if trouble:
                raise trouble
            return seen
        pause(min(wish.interval, left))


def last_lines(log: str) -> list[str]:
    """The end of what the failed step said, before the kernel log."""
    return log.partition("--- dmesg")[0].strip().splitlines()[-LOG_LINES:]


def add_logs(client: Client, entries: list[Json]) -> None:
    """Gives failed nodes the end of their log. A log that cannot be read is no reason to hide the failure."""
    for entry in [e for e in entries if e["outcome"] == "failed"][:LOGS]:
        try:
            entry["log"] = last_lines(client.log(entry["mac"]))
        except SledError as error:
            entry["log"] = [f"the log cannot be read: {error}"]


def report(client: Client, wish: Wish, seen: Look) -> Json:
    """A module's result: every node with its outcome, and in msg why nodes are not ready."""
    entries = seen.entries()
    add_logs(client, entries)
    lines = [explain(name, node, "failed") for name, node in sorted(seen.failed.items())]
    lines += [explain(name, node, "pending") for name, node in sorted(seen.pending.items())]
    enough = len(seen.ready) >= wish.require
    head = f"{len(seen.ready)} of {len(wish.nodes)} nodes ready, {wish.require} required"
    if seen.pending and not enough and not settled(seen, wish):
        head += f", after {wish.timeout:g} s"
    return {
        "changed": False,
        "failed": not enough,
        "msg": "; ".join([head, *lines]),
        "nodes": entries,
        "ready": sorted(seen.ready),
        "not_ready": sorted([*seen.failed, *seen.pending]),
    }
