# SPDX-License-Identifier: Apache-2.0
"""Fleets for the tests; a test that fails leaves its folder, with the playbook's and the machines' logs."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator

import pytest
from ansible_collections.sled.fleet.tests.rollout.fleet import Fleet


@pytest.fixture
def fleet_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], Fleet]]:
    """Makes a fleet of so many nodes."""
    fleets: list[Fleet] = []

    def make(count: int) -> Fleet:
        fleet = Fleet(tmp_path_factory.mktemp("fleet"), count, racks=count // 2)  # short: etcd has a socket in it
        fleets.append(fleet)
        fleet.begin()
        return fleet

    yield make
    for fleet in fleets:
        fleet.end()


@pytest.fixture
def chance() -> random.Random:
    """Moments of faults. SLED_SEED repeats those of another run."""
    seed = os.environ.get("SLED_SEED") or str(random.SystemRandom().randrange(1 << 32))
    print(f"SLED_SEED={seed}")
    return random.Random(seed)
