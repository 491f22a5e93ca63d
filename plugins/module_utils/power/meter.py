# SPDX-License-Identifier: Apache-2.0
"""Reads a meter once a second for some time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from ansible_collections.sled.fleet.plugins.module_utils.power.driver import FINAL, Driver, PowerError
from ansible_collections.sled.fleet.plugins.module_utils.power.energy import Energy, Sample, integrate, refresh_of

INTERVAL = 1.0  # seconds between two readings, or as many of them as one takes
LONGEST = 30.0  # seconds after the end for which a late meter is read


def measure(driver: Driver, seconds: float, clock: Callable[[], float], pause: Callable[[float], None]) -> Energy:
    """The energy of the next seconds. A meter that fails is read again, and its last error is the reason."""
    begin, error = clock(), ""
    end, samples = begin + seconds, list[Sample]()
    while True:
        try:
            watts = driver.watts()
            samples.append(Sample(clock(), watts))
        except PowerError as failed:
            error = str(failed)
            if failed.kind in FINAL:
                break
        now = clock()
        if now >= end + min(1.5 * (refresh_of(samples) or 0), LONGEST):
            break
        pause(begin + INTERVAL * (math.floor((now - begin) / INTERVAL) + 1) - now)
    energy = integrate(samples, begin, end)
    return replace(energy, reason=f"{energy.reason}: {error}") if energy.least is None and error else energy
