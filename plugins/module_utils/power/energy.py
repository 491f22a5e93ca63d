# SPDX-License-Identifier: Apache-2.0
"""Joules from the readings of a meter: pure functions. docs/power.md, "Watts and joules", has the rules."""

from __future__ import annotations

import bisect
import itertools
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

REFRESHES = 10  # changes of the reading, without which a sum is no figure
MISSED = 3  # readings that may be missing in a row
SLACK = 1.0  # seconds that the time may be earlier or later, or a refresh
STUCK = 10  # refreshes for which a meter may repeat a reading


class Sample(NamedTuple):
    """One reading."""

    at: float  # seconds, of a clock that only advances
    watts: float


@dataclass(frozen=True)
class Energy:
    """What the readings prove. Without joules, the reason is set; without least and most, nothing is proven."""

    reason: str = ""
    joules: float | None = None
    least: float | None = None
    most: float | None = None
    refresh: float | None = None  # seconds between two changes of the reading


def refresh_of(samples: list[Sample]) -> float | None:
    """The observed time between two changes of the reading."""
    return _typical(_changes(samples))


def integrate(samples: list[Sample], begin: float, end: float, slack: float = 0.0) -> Energy:
    """The energy between two times, both of which may be earlier or later by the slack.

    Readings after the end belong to it, as a meter reports late; those before the start only show the meter.
    """
    if missing := _missing(samples, begin, end):
        return Energy(missing)
    changes = _changes(samples)
    counted = [at for at in changes if at >= begin]
    refresh = _typical(counted) or _typical(changes)
    reach = refresh or end - begin
    # A reading describes the time since the refresh before it, and is repeated until the next. The band takes half a
    # refresh more on both sides, because the time of a refresh is known only to within one reading.
    before, after = reach / 2 + slack, reach * 1.5 + slack
    least, most = (_sum(samples, begin, end, _near(samples, pick, before, after)) for pick in (min, max))
    rounding = 0.5 * (end - begin) if all(one.watts == int(one.watts) for one in samples) else 0.0
    band = Energy("", None, max(least - rounding, 0.0), most + rounding, refresh)
    if refresh is None or len(counted) < REFRESHES:
        return replace(band, reason=f"the reading changed {len(counted)} times, and a figure needs {REFRESHES}")
    still = max(later - sooner for sooner, later in itertools.pairwise([*changes, samples[-1].at]) if later > begin)
    if still > STUCK * refresh:
        reason = f"the reading stayed the same for {still:.0f} s, and changed every {refresh:.1f} s before"
        return replace(band, reason=reason)
    if slack > max(refresh, SLACK):
        return replace(band, reason=f"the start is known to within {slack:.0f} s only")
    # Between half a refresh (a meter of moments) and a whole one (a meter of means), and half the time of a reading.
    late = 0.75 * refresh + _spacing(samples) / 2
    return replace(band, joules=_sum(samples, begin + late, end + late))


def _typical(changes: list[float]) -> float | None:
    """The time between two changes."""
    gaps = [later - sooner for sooner, later in itertools.pairwise(changes)]
    return statistics.median(gaps) if gaps else None


def _changes(samples: list[Sample]) -> list[float]:
    """When the reading changed: in the middle between two readings."""
    return [(old.at + new.at) / 2 for old, new in itertools.pairwise(samples) if old.watts != new.watts]


def _spacing(samples: list[Sample]) -> float:
    return statistics.median(new.at - old.at for old, new in itertools.pairwise(samples))


def _missing(samples: list[Sample], begin: float, end: float) -> str:
    """The first time without readings that is too long; empty: there is none."""
    if len(samples) < 2:
        return f"{len(samples)} readings in {end - begin:.0f} s"
    times, longest = [begin, *(one.at for one in samples if begin < one.at < end), end], MISSED * _spacing(samples)
    for sooner, later in itertools.pairwise(times):
        if later - sooner > longest:
            return f"no reading from {sooner - begin:.0f} s to {later - begin:.0f} s"
    return ""


def _near(
    samples: list[Sample], pick: Callable[[Iterable[float]], float], before: float, after: float
) -> Callable[[int], float]:
    """The least or most that is read around the time of a sample."""
    times = [one.at for one in samples]

    def found(i: int) -> float:
        until = times[min(i + 1, len(times) - 1)] + after
        near = samples[bisect.bisect_left(times, times[i] - before) : bisect.bisect_right(times, until)]
        return pick(one.watts for one in near)

    return found


def _sum(samples: list[Sample], begin: float, end: float, watts: Callable[[int], float] | None = None) -> float:
    """The integral of the readings, each of which holds until the next one; the first and last forever."""
    bounds = [begin, *(min(max(one.at, begin), end) for one in samples[1:]), end]
    return sum(
        (later - sooner) * (watts(i) if watts else samples[i].watts)
        for i, (sooner, later) in enumerate(itertools.pairwise(bounds))
        if later > sooner
    )
