# SPDX-License-Identifier: Apache-2.0
"""A wave of nodes whose BMCs are slow, silent and lying.

BMCS=400 is the long run (`make test-bmcs`). Times of BMCs are those of slow ones, 0.2 to 8 s for an answer, times
SCALE; so are the limits within which they must answer and switch.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.tests.rollout.rack import Rack
from ansible_collections.sled.fleet.tests.rollout.test_supervise import Wave

BMCS = int(os.environ.get("BMCS") or 24)
SCALE = float(os.environ.get("SCALE") or 0.05)
PLACES, SECONDS = 8, 5 * SCALE  # of the window


class Slow(Rack):
    """A rack whose BMCs answer in 0.2 to 8 s; of each a limit of 20 s for an answer and of 60 s for its power."""

    def control(self, node: str) -> Json:
        """With the limit of time of an answer."""
        return {"power_first": [{**self._control(node), "timeout": 20 * SCALE}]}

    def controls(self) -> Json:
        """The limits of all."""
        window = {"nodes": PLACES, "seconds": SECONDS, "file": str(self.folder / "window")}
        return {"power_timeout": 60 * SCALE, "power_window": window}


@pytest.fixture
def broken(chance: random.Random) -> dict[str, str]:
    """The nodes whose BMC is silent or lies."""
    names = chance.sample([f"n{i + 1}" for i in range(BMCS)], max(BMCS // 20, 1) + max(BMCS // 50, 1))
    return {name: "silent" if i < max(BMCS // 20, 1) else "lies" for i, name in enumerate(names)}


@pytest.fixture
def slow(tmp_path_factory: pytest.TempPathFactory, broken: dict[str, str]) -> Iterator[Slow]:
    def bmc(node: str) -> dict[str, Any]:
        return {"answer": [0.2 * SCALE, 8 * SCALE], **({broken[node]: True} if node in broken else {})}

    fleet = Slow(tmp_path_factory.mktemp("bmcs"), BMCS, racks=10, bmc=bmc, hooks=False)
    fleet.begin()
    yield fleet
    fleet.end()


def test_the_run_ends_well_for_the_rest(slow: Slow, broken: dict[str, str]) -> None:
    for node in slow.nodes:
        slow.client.put("bindings", node, {"node": node, "image": "v2"}, 0)
    nodes, text = Wave(slow).run()
    failed = {name: one["reason"] for name, one in nodes.items() if one["state"] != "done"}
    assert failed.keys() == broken.keys(), text
    words = {"silent": "no answer within", "lies": "it accepted on, but after"}
    assert all(words[broken[name]] in reason for name, reason in failed.items()), failed
    assert all(name in text for name in broken)
    seen = {node: slow.seen(node) for node in slow.nodes if broken.get(node) != "silent"}
    assert {one["most"] for one in seen.values()} == {1}, "more than one session with a BMC"
    for node, one in seen.items():
        assert (one["from"] or []) == ([] if node in broken else ["pxe"]), f"{node} was switched on {one['from']}"
    ons = sorted(
        datetime.fromisoformat(at[:26].rstrip("Z")).timestamp() for one in seen.values() for at in one["on"] or []
    )
    spans = [later - sooner for sooner, later in zip(ons, ons[PLACES:], strict=False)]
    # Measured, not asserted: it has what a busy machine adds between gate and BMC (in fake time: test_power_boot.py).
    took = max(one["seconds"] for one in nodes.values())
    print(f"{len(ons)} power-ons in {ons[-1] - ons[0]:.1f} s, {PLACES + 1} in no less than {min(spans):.2f} s")
    print(f"the window is {PLACES} in {SECONDS:g} s; the slowest node took {took:.0f} s")
