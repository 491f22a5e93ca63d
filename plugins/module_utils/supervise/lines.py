# SPDX-License-Identifier: Apache-2.0
"""What is printed while a wave is followed: a line for each change of a node; of many only trouble and numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from ansible_collections.sled.fleet.plugins.module_utils.supervise.core import (
    ACTING,
    CHOOSING,
    CONFIRMING,
    DONE,
    ENDED,
    ENTERING,
    FAILED,
    IMAGING,
    VERIFYING,
    State,
)
from ansible_collections.sled.fleet.plugins.module_utils.supervise.loop import Run

MANY = 16  # nodes of a wave, above which a line with numbers replaces those of nodes that go well
PAUSE = 10.0  # seconds between two such lines, at least
SHARE = 0.25  # the same of the time since the start of the wave: the lines of a day fit on a page
STAGES = (DONE, FAILED, VERIFYING, CONFIRMING, IMAGING, ENTERING, ACTING, CHOOSING)  # as such a line has them


def line(run: Run, before: State) -> tuple[str, bool]:
    """What is to be read of a change, and whether it is trouble; empty if there is nothing to read."""
    now = run.state
    text, trouble = change(run, before) if now.stage != before.stage else ("", False)
    waits = now.waits if now.stage not in ENDED and now.waits != before.waits else ""
    text = "; ".join(part for part in (text, waits) if part)
    return (f"{run.settings.name}: {text}" if text else ""), trouble


def change(run: Run, before: State) -> tuple[str, bool]:
    """The same of another stage, without the name."""
    now, text, trouble = run.state, "", False
    if now.stage == DONE:
        by = f", entered by {now.method}" if now.method else ""
        text = "its binding is satisfied" if now.found else f"done in {run.seconds:.0f} s{by}"
    elif now.stage == FAILED:
        text, trouble = f"failed: {now.reason}", True
    elif now.stage == ACTING and now.fallen:
        text, trouble = f"is started from {now.fallen}: {now.reason}", True
    elif now.stage == ACTING:
        text = f"enters by {now.method}"
    elif now.stage == CHOOSING:
        text, trouble = f"is tried again: {now.reason}", True
    elif now.stage == IMAGING:
        text = "executes its plan"
    elif now.stage == CONFIRMING and not now.fallen:
        text = "its system starts"
    return text, trouble


class Lines:
    """Prints the lines of a wave."""

    def __init__(self, runs: int, say: Callable[[str], None], clock: Callable[[], float]) -> None:
        self._many, self._say, self._clock = runs > MANY, say, clock
        self._stages: dict[str, str] = {}
        self._waits: dict[str, str] = {}
        self._count = runs
        self._start = self._last = clock()

    def tell(self, run: Run, before: State) -> None:
        """A node has changed."""
        text, trouble = line(run, before)
        if text and (trouble or not self._many):
            self._say(text)
        self._stages[run.settings.name] = run.state.stage
        self._waits[run.settings.name] = run.state.waits if run.open else ""
        if self._many and text:
            self._sum(len([one for one in self._stages.values() if one in (DONE, FAILED)]) == self._count)

    def _sum(self, last: bool) -> None:
        now = self._clock()
        if now - self._last < max(PAUSE, SHARE * (now - self._start)) and not last:
            return
        self._last = now
        found = Counter(self._stages.values())
        found[CHOOSING] += self._count - len(self._stages)
        numbers = ", ".join(f"{found[stage]} {stage}" for stage in STAGES if found[stage])
        waiting = [f"{name} {text}" for name, text in self._waits.items() if text]
        more = f"; {len(waiting)} wait: {waiting[0]}" if waiting else ""
        self._say(f"after {now - self._start:.0f} s, of {self._count} nodes: {numbers}{more}")
