# SPDX-License-Identifier: Apache-2.0
"""Fleets for the tests; a test that fails leaves its folder, with the playbook's and the machines' logs."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible_collections.sled.fleet.tests.rollout.fleet import Fleet


@pytest.fixture
def fleet_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Fleet]]:
    """Makes a fleet of so many nodes; what it takes besides is class Fleet's."""
    fleets: list[Fleet] = []

    def make(count: int, **rest: Any) -> Fleet:
        folder = tmp_path_factory.mktemp("fleet")  # short: etcd has a socket in it
        fleet = Fleet(folder, count, racks=count // 2, **rest)
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
