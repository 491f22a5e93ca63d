# SPDX-License-Identifier: Apache-2.0
"""How long a node may stand still. Pure: the caller brings the time and what sledd reports of the node.

Only what advances counts as movement. A node that repeats its report stands still, and so does one that starts again
and again. All movement within a generation is finite, so every wait ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.words import STEPS, WORKING

ANY = "any"  # the limit of every step without its own
PASSES = 8  # times that a step may count its bytes from the start: discard, then zeros; pack, then read back
RESTARTS = 3  # restarts of a node within a generation that count as movement


def limits(given: Mapping[str, Any]) -> dict[str, float]:
    """Checks the limits: seconds by step, and V(any) for the others. Raises ValueError."""
    found: dict[str, float] = {}
    for step, value in given.items():
        if step != ANY and step not in STEPS:
            raise ValueError(f"silent: {step!r} is not a step: want {ANY}, {', '.join(STEPS)}")
        try:
            found[step] = float(value)
        except (TypeError, ValueError):
            found[step] = 0.0
        if isinstance(value, bool) or not 0 < found[step] < float("inf"):
            raise ValueError(f"silent: {step}: {value!r}: want seconds, more than 0")
    if found and ANY not in found:
        raise ValueError(f"silent: {ANY} is missing: it is the limit of every step without its own")
    return found


class Mark(NamedTuple):
    """The furthest point of a node within a generation."""

    generation: int = -1
    boot: str = ""
    restarts: int = 0
    phases: frozenset[str] = frozenset()
    step: int = 0
    passes: int = 0
    total: int = 0
    done: int = 0


def advance(mark: Mark, status: Json) -> tuple[Mark, str]:
    """The new furthest point, and what moved; empty if nothing did."""
    generation, boot = int(status.get("generation") or 0), str(status.get("boot_id") or "")
    if generation > mark.generation:
        return _reach(Mark(generation, boot), status)[0], f"generation {generation}"
    if generation < mark.generation:
        return mark, ""
    if boot and boot != mark.boot:
        if mark.restarts >= RESTARTS:
            return _reach(mark._replace(boot=boot, passes=PASSES), status)
        restarts = mark.restarts + (1 if mark.boot else 0)
        return _reach(Mark(generation, boot, restarts), status)[0], "start of the machine"
    return _reach(mark, status)


def _reach(mark: Mark, status: Json) -> tuple[Mark, str]:
    """The same within one start of the machine."""
    phase, step = str(status.get("phase") or ""), int(status.get("step") or 0)
    progress = status.get("progress") or {}
    total = max(int(progress.get("total") or 0), 0)
    done = min(max(int(progress.get("bytes") or 0), 0), total)
    moved = ""
    if phase not in mark.phases:
        mark, moved = mark._replace(phases=mark.phases | {phase}), f"phase {phase or 'unknown'}"
    if step > mark.step:
        return mark._replace(step=step, passes=0, total=total, done=done), f"step {status.get('verb', '')}".rstrip()
    if step < mark.step or not progress:
        return mark, moved
    if (done < mark.done or total != mark.total) and mark.passes < PASSES:
        return mark._replace(passes=mark.passes + 1, total=total, done=done), "bytes"
    if total == mark.total and done > mark.done:
        return mark._replace(done=done), "bytes"
    return mark, moved


class StallTimer(NamedTuple):
    """What is known of a node's movement. Time counts only while sledd answers: its silence is not the node's."""

    limits: Mapping[str, float]
    mark: Mark = Mark()
    at: float | None = None  # time of the last look; None: sledd did not answer then
    silent: float = 0.0  # seconds without movement
    moved: str = ""  # what moved last
    said: tuple[Any, Any] = (None, None)  # when sledd saw it move, and its progress

    def look(self, now: float, status: Json) -> StallTimer:
        """The node was read."""
        mark, moved = advance(self.mark, status)
        said = (status.get("moved"), status.get("progress"))
        # A drive that erases itself may report nothing for hours: then sledd counts each word of its node as movement.
        if not moved and said[0] != self.said[0] and said[1] == self.said[1]:
            moved = "word of the node"
        stood = self.silent + (max(now - self.at, 0.0) if self.at is not None else 0.0)
        return self._replace(mark=mark, at=now, silent=0.0 if moved else stood, moved=moved or self.moved, said=said)

    def away(self) -> StallTimer:
        """Sledd did not answer."""
        return self._replace(at=None)

    def limit(self, status: Json) -> float:
        """The limit of the step that runs."""
        verb = str(status.get("verb") or "") if status.get("phase") in WORKING else ""
        return self.limits.get(verb, self.limits[ANY])

    def over(self, status: Json) -> bool:
        """Whether the node has stood still for too long."""
        return self.silent >= self.limit(status)

    def words(self, status: Json) -> str:
        """How long it is silent, of what, and why that is known."""
        progress, phase, verb = status.get("progress"), status.get("phase") or "unknown", status.get("verb") or ""
        if phase not in WORKING:
            last = f"phase is {phase}"
        elif progress:
            last = f"{verb} stands at {_bytes(progress.get('bytes'))} of {_bytes(progress.get('total'))}"
        else:
            last = f"{verb} reports no progress"
        return f"silent {self.silent:.0f} of {self.limit(status):.0f} s, because {last}; last moved: {self.moved}"


def _bytes(number: Any) -> str:
    value, units = float(number or 0), ["B", "kB", "MB", "GB", "TB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:.0f} B" if units[0] == "B" else f"{value:.2f} {units[0]}"
