# SPDX-License-Identifier: Apache-2.0
"""How long a node may stand still, over seeded schedules of what it may report and what may happen to sledd."""

from __future__ import annotations

import random
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.supervise.stall import (
    ANY,
    PASSES,
    RESTARTS,
    Mark,
    StallTimer,
    advance,
    limits,
)

SCHEDULES = 2_000
PLAN = [("wiping", "wipe"), ("writing", "write"), ("configuring", "configure")]


def status(phase: str, verb: str = "", step: int = 0, boot: str = "b0", **progress: int) -> Json:
    found: Json = {"phase": phase, "generation": 2, "boot_id": boot, "step": step, "verb": verb}
    return {**found, "progress": progress} if progress else found


class Life:
    """A node that works through its plan, and may lose its power."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.boots, self.step, self.done, self.passes = 0, 0, 0, 0
        self.totals = [dice.randint(1, 4), dice.randint(1, 4), 0]

    def next(self) -> bool:
        """Advances once; False when the plan has ended."""
        if self.boots < RESTARTS and self.dice.random() < 0.05:
            self.boots, self.step, self.done, self.passes = self.boots + 1, 0, 0, 0
        elif self.step < len(PLAN) and self.done < self.totals[self.step]:
            self.done += 1
        elif self.step == 0 and self.passes < PASSES and self.done > 0 and self.dice.random() < 0.3:
            self.passes, self.done = self.passes + 1, 0
        else:
            self.step, self.done, self.passes = self.step + 1, 0, 0
        return self.step < len(PLAN)

    def status(self) -> Json:
        phase, verb = PLAN[self.step]
        progress = {"bytes": self.done, "total": self.totals[self.step]} if self.totals[self.step] else {}
        return status(phase, verb, self.step + 1, f"b{self.boots}", **progress)


def test_what_moves_is_never_given_up() -> None:
    for seed in range(SCHEDULES):
        dice = random.Random(seed)
        life, timer, now = Life(dice), StallTimer({ANY: 300.0, "wipe": 20.0}), 0.0
        more = True
        while more:
            seen = life.status()
            timer = timer.look(now, seen)
            assert not timer.over(seen), f"seed {seed}: {timer.words(seen)}"
            if dice.random() < 0.1:  # sledd is away for longer than any limit, and the node moves on or not
                timer, now = timer.away(), now + 1000
            moment = dice.uniform(0.1, 0.45) * timer.limit(seen)
            timer = timer.look(now + moment, seen)  # the same report again
            assert not timer.over(seen), f"seed {seed}: {timer.words(seen)}"
            now += 2 * moment
            more = life.next()


def test_what_stands_still_is_seen() -> None:
    for seed in range(SCHEDULES):
        dice = random.Random(seed)
        life, timer, now = Life(dice), StallTimer({ANY: 30.0, "write": 10.0}), 0.0
        seen = life.status()
        for _ in range(dice.randint(0, 12)):
            timer, now = timer.look(now, seen), now + 2
            if not life.next():
                break
            seen = life.status()
        timer = timer.look(now, seen)
        stood = now
        while not timer.over(seen):
            now += 2.0
            timer = timer.look(now, seen)
        assert now - stood <= timer.limit(seen) + 2, f"seed {seed}"
        assert f"of {timer.limit(seen):.0f} s, because {seen['verb']} " in timer.words(seen)


def test_a_node_that_reports_anything_is_given_up() -> None:
    totals = 4
    bound = (1 + RESTARTS) * (len(PLAN) + 5 * (2 + (PASSES + 1) * (totals + 1)))
    for seed in range(SCHEDULES // 10):
        dice = random.Random(seed)
        mark, moves = advance(Mark(), status("booting"))[0], 0
        for _ in range(200):
            phase, verb = dice.choice([*PLAN, ("booting", ""), ("starting", "kexec")])
            progress = {"bytes": dice.randint(-2, 9), "total": dice.randint(-1, totals)}
            mark, moved = advance(mark, status(phase, verb, dice.randint(0, 4), f"b{dice.randint(0, 50)}", **progress))
            moves += bool(moved)
        assert moves <= bound, f"seed {seed}"


def test_a_machine_that_starts_again_and_again_stands_still() -> None:
    timer, now = StallTimer({ANY: 600.0}), 0.0
    seen = status("wiping", "wipe", 1)
    while not timer.over(seen):
        boot = f"b{int(now // 120)}"  # it loses its power every two minutes, always at the same byte
        done = int(now % 120)
        seen = status("wiping", "wipe", 1, boot, bytes=done, total=1000)
        timer, now = timer.look(now, seen), now + 10
    assert now <= 120 * (1 + RESTARTS) + 600 + 120


def test_a_wipe_of_a_day_and_a_write_that_stalls() -> None:
    timer, now, total = StallTimer({ANY: 300.0}), 0.0, 16 * 10**12
    for done in range(0, total, 40 * 10**9):
        seen = status("wiping", "wipe", 1, bytes=done, total=total)
        timer, now = timer.look(now, seen), now + 200
        assert not timer.over(seen)
    assert now == 80_000
    seen = status("writing", "write", 2, bytes=85 * 10**8, total=total)
    for _ in range(150):
        timer, now = timer.look(now, seen), now + 2
    assert not timer.over(seen)
    timer = timer.look(now + 2, seen)
    words = "silent 302 of 300 s, because write stands at 8.50 GB of 16.00 TB; last moved: step write"
    assert timer.over(seen)
    assert timer.words(seen) == words


def test_silence_of_sledd_is_not_that_of_a_node() -> None:
    seen = status("writing", "write", 2, bytes=1, total=9)
    timer = StallTimer({ANY: 300.0}).look(0, seen).look(299, seen)
    assert timer.away().look(5000, seen).silent == 299
    assert timer.away().look(5000, seen).look(5001, seen).over(seen)


def test_an_older_generation_moves_nothing() -> None:
    mark, _ = advance(Mark(), status("writing", "write", 2))
    assert advance(mark, {**status("writing", "write", 3), "generation": 1}) == (mark, "")
    assert advance(mark, {**status("writing", "write", 1), "generation": 3})[1] == "generation 3"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"any": 300, "wrote": 5}, "silent: 'wrote' is not a step: want any, layout, wipe, write"),
        ({"write": 300}, "silent: any is missing"),
        ({"any": 0}, "silent: any: 0: want seconds, more than 0"),
        ({"any": "soon"}, "silent: any: 'soon': want seconds, more than 0"),
        ({"any": float("inf")}, "silent: any: inf: want seconds"),
        ({"any": float("nan")}, "silent: any: nan: want seconds"),
        ({"any": True}, "silent: any: True: want seconds"),
        ({"any": None}, "silent: any: None: want seconds"),
    ],
)
def test_limits_that_cannot_be(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match="silent") as caught:
        limits(given)
    assert str(caught.value).startswith(words)


def test_limits() -> None:
    assert limits({}) == {}
    assert limits({"any": "300", "wipe": 20}) == {"any": 300.0, "wipe": 20.0}


def test_a_purge_that_reports_nothing_for_hours() -> None:
    timer, now = StallTimer({ANY: 600.0}), 0
    for now in range(0, 20 * 3600, 5):  # a Format: the node speaks each 5 s, and has no bytes to report
        seen = status("wiping", "wipe", 1) | {"moved": str(now)}
        timer = timer.look(now, seen)
        assert not timer.over(seen)
    for later in range(now, now + 605, 5):  # its power is gone
        timer = timer.look(later, seen)
    assert timer.over(seen)


def test_bytes_that_begin_again_and_again_are_no_words() -> None:
    timer, now, seen = StallTimer({ANY: 600.0}), 0, status("wiping", "wipe", 1)
    while not timer.over(seen) and now < 9000:
        now += 10
        seen = status("wiping", "wipe", 1, bytes=now % 100, total=1000) | {"moved": str(now)}
        timer = timer.look(now, seen)
    assert timer.over(seen)
