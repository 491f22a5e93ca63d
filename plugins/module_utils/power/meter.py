# SPDX-License-Identifier: Apache-2.0
"""Reads a meter once a second, for some time or while the payload of a job runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SledError, Unreachable
from ansible_collections.sled.fleet.plugins.module_utils.power.driver import FINAL, Driver, PowerError
from ansible_collections.sled.fleet.plugins.module_utils.power.energy import Energy, Sample, integrate, refresh_of

INTERVAL = 1.0  # seconds between two readings, or as many of them as one takes
LONGEST = 30.0  # seconds after the end for which a late meter is read
ENDED = ("done", "failed", "cancelled", "lost")


class Span(NamedTuple):
    """The time that is measured, by the clock of the readings."""

    begin: float
    end: float
    slack: float = 0.0  # seconds that it may be earlier or later


def measure(
    driver: Driver, span: Callable[[], Span | None], clock: Callable[[], float], pause: Callable[[float], None]
) -> Energy:
    """The energy of a time, whose end is not known until the span is.

    A meter that fails is read again, and its last error is the reason.
    """
    origin, error, final, samples = clock(), "", False, list[Sample]()
    while True:
        found = span()
        if not final:
            try:
                watts = driver.watts()
                samples.append(Sample(clock(), watts))
            except PowerError as failed:
                error, final = str(failed), failed.kind in FINAL
        now = clock()
        if found and (final or (now >= found.end and now >= found.end + _late(samples))):
            break
        pause(origin + INTERVAL * (math.floor((now - origin) / INTERVAL) + 1) - now)
    energy = integrate(samples, *found)
    return replace(energy, reason=f"{energy.reason}: {error}") if energy.least is None and error else energy


def _late(samples: list[Sample]) -> float:
    return min(1.5 * (refresh_of(samples) or 0), LONGEST)


class Payload:
    """The time in which the payload of a job runs, from polls of the job: each bounds its start.

    The clock of sledd may differ from that of the readings, so its times are not used.
    """

    def __init__(self, find: Callable[[], Json], clock: Callable[[], float]) -> None:
        self._find, self._clock = find, clock
        self._asked, self._running = -math.inf, -math.inf  # the last polls that found it not started, and not ended
        self._started = math.inf  # the first poll that found it started
        self._span: Span | None = None
        self.job: Json = {}  # as it was read last

    @property
    def ended(self) -> bool:
        """Reports whether the job has ended."""
        return self.job.get("state") in ENDED

    def poll(self) -> None:
        """Reads the job. While sledd does not answer, the job continues."""
        if self.ended:
            return
        before = self._clock()
        try:
            self.job = self._find()
        except Unreachable:
            return
        if not self.job.get("started"):
            self._asked = before
            return
        self._started = min(self._started, self._clock())
        if not self.ended:
            self._running = before

    def wait(self, until: Callable[[], bool], pause: Callable[[float], None]) -> None:
        """Polls once a second until that is so."""
        while True:
            self.poll()
            if self.job and until():
                return
            pause(INTERVAL)

    def __call__(self) -> Span | None:
        """Polls. Once the job has ended, the time that its payload ran."""
        self.poll()
        if self.ended and not self._span:
            self._span = self._ran()
        return self._span

    def _ran(self) -> Span:
        seconds = self.job.get("seconds") or 0.0
        first = max(self._asked, self._running - seconds)
        last = min(self._started, self._clock() - seconds)
        begin = (first + last) / 2 if first > -math.inf else last
        return Span(begin, begin + seconds, abs(last - begin))


def energy_of(
    payload: Payload, read: Callable[[Callable[[], Span | None]], Energy | None], pause: Callable[[float], None]
) -> Energy | None:
    """The energy of a job, after its end; None: its payload was not started. The meter is read from its plan on."""
    payload.wait(lambda: payload.job["state"] != "waiting", pause)
    try:
        energy = read(payload)
    except SledError as error:  # no control has a meter that answers
        energy = Energy(str(error))
        payload.wait(lambda: payload.ended, pause)
    if not payload.job.get("started"):
        return None
    return energy if payload.job.get("seconds") else Energy("how long the payload ran is not known")
