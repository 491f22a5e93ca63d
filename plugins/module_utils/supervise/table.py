# SPDX-License-Identifier: Apache-2.0
"""A table of the nodes that are followed, drawn again in place on a terminal. What does not fit is counted.

At the end of the wave one line is left of it: the playbook prints a table of the whole rollout.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence

from ansible_collections.sled.fleet.plugins.module_utils.supervise.core import (
    ACTING,
    CHOOSING,
    CONFIRMING,
    DONE,
    ENTERING,
    FAILED,
    IMAGING,
    VERIFYING,
    State,
)
from ansible_collections.sled.fleet.plugins.module_utils.supervise.lines import STAGES, line
from ansible_collections.sled.fleet.plugins.module_utils.supervise.loop import Run

REDRAW = 1.0  # seconds between two drawings
QUIET = 15.0  # seconds of silence that are shown
OTHERS = 4  # lines of the terminal that are left free
ORDER = {FAILED: 0, IMAGING: 1, ENTERING: 2, CONFIRMING: 3, ACTING: 4, VERIFYING: 5, CHOOSING: 6, DONE: 7}
TEXTS = {CHOOSING: "waits", CONFIRMING: "its system starts", VERIFYING: "is verified over SSH"}


def cells(run: Run, now: float) -> list[str]:
    """What is read of one node: name, what it does, how far it is, how long it is silent."""
    state, status = run.state, run.node.get("status") or {}
    if state.stage == DONE:
        return [run.settings.name, "done", f"{run.seconds:.0f} s", state.method]
    if state.stage == FAILED:
        return [run.settings.name, "failed", f"{run.seconds:.0f} s", state.reason]
    text = TEXTS.get(state.stage, f"enters by {state.method}")
    far = f"{now - run.begun:.0f} s"
    if state.stage == IMAGING:
        text, progress = str(status.get("phase") or ""), status.get("progress") or {}
        if progress.get("total"):
            far = f"{100 * progress.get('bytes', 0) // progress['total']} %"
    if state.waits:
        return [run.settings.name, text, far, state.waits]
    silent = state.timer.silent
    limit = state.timer.limit(status) if silent >= QUIET else 0
    return [run.settings.name, text, far, f"silent {silent:.0f} of {limit:.0f} s" if limit else ""]


def table(runs: Sequence[Run], now: float, width: int, height: int) -> list[str]:
    """All nodes if they fit, else failures first, then who is silent longest, and those that are done last."""
    room = max(height - OTHERS, 2)
    shown = runs
    if len(runs) > room:
        shown = sorted(runs, key=lambda run: (ORDER[run.state.stage], -run.state.timer.silent))[: room - 1]
    rows = [cells(run, now) for run in shown]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    lines = ["  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[3]]) for row in rows]
    if len(runs) > len(shown):
        lines.append(f"... and {len(runs) - len(shown)} more")
    return [one.rstrip()[: width - 1] for one in [*lines, total(runs)]]


def total(runs: Sequence[Run]) -> str:
    """All nodes in one line."""
    found = Counter(run.state.stage for run in runs)
    return f"{len(runs)} nodes: " + ", ".join(f"{found[stage]} {stage}" for stage in STAGES if found[stage])


class Table:
    """Draws the table. Lines of trouble stay above it."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float], width: int, height: int) -> None:
        self._say, self._clock, self._width, self._height = say, clock, width, height
        self._drawn = 0  # lines of the table on the terminal
        self._start = clock()
        self._last = self._start - REDRAW
        self._above: deque[str] = deque()  # lines to be printed above it
        self._ended = False  # all nodes, and that was drawn; their last jobs may still run

    def tell(self, run: Run, before: State) -> None:
        """A node has changed."""
        text, trouble = line(run, before)
        if trouble:
            self.note(text)

    def note(self, text: str) -> None:
        """A line for people, from any thread. Printed by itself it would move the table."""
        self._above.append(text)

    def tick(self, runs: Sequence[Run]) -> None:
        """Time has passed, or a node has changed."""
        now = self._clock()
        ended = not any(run.open for run in runs)
        if self._ended or (now - self._last < REDRAW and not ended):
            return
        self._last, self._ended = now, ended
        lines = table(runs, now, self._width, self._height)
        if ended:
            lines = [f"{total(runs)}, after {now - self._start:.0f} s"]
        above = [self._above.popleft() for _ in range(len(self._above))]
        erase = f"\x1b[{self._drawn}F\x1b[J" if self._drawn else ""
        self._say(erase + "\n".join([*above, *lines]))
        self._drawn = len(lines)
