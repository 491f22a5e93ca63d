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
    name, now = run.settings.name, run.state
    if now.stage == before.stage:
        return "", False
    text, trouble = "", False
    if now.stage == DONE:
        by = f", entered by {now.method}" if now.method else ""
        text = "its binding is satisfied" if now.found else f"done in {run.seconds:.0f} s{by}"
    elif now.stage == FAILED:
        text, trouble = f"failed: {now.reason}", True
    elif now.stage == ACTING and now.fallen:
        text, trouble = f"is started from its disk: {now.reason}", True
    elif now.stage == ACTING:
        text = f"enters by {now.method}"
    elif now.stage == CHOOSING:
        text, trouble = f"is tried again: {now.reason}", True
    elif now.stage == IMAGING:
        text = "executes its plan"
    elif now.stage == CONFIRMING and not now.fallen:
        text = "its system starts"
    return (f"{name}: {text}" if text else ""), trouble


class Lines:
    """Prints the lines of a wave."""

    def __init__(self, runs: int, say: Callable[[str], None], clock: Callable[[], float]) -> None:
        self._many, self._say, self._clock = runs > MANY, say, clock
        self._stages: dict[str, str] = {}
        self._count = runs
        self._start = self._last = clock()

    def tell(self, run: Run, before: State) -> None:
        """A node has changed."""
        text, trouble = line(run, before)
        if text and (trouble or not self._many):
            self._say(text)
        self._stages[run.settings.name] = run.state.stage
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
        self._say(f"after {now - self._start:.0f} s, of {self._count} nodes: {numbers}")
