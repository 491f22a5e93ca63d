# SPDX-License-Identifier: Apache-2.0
"""Forty nodes are imaged again and again, while the controller, sledd and the network fail at seeded moments.

INTERRUPTIONS=200 is the long run (`make test-interruptions`); each fleet has at most EACH of them.
"""

from __future__ import annotations

import collections
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.sled.fleet.tests.rollout.fleet import PATIENCE, wait_for
from ansible_collections.sled.fleet.tests.rollout.proxy import Proxy
from ansible_collections.sled.fleet.tests.rollout.rack import Rack

NODES, EACH = 40, 40
INTERRUPTIONS = int(os.environ.get("INTERRUPTIONS") or 4)
ROUNDS = [min(EACH, INTERRUPTIONS - first) for first in range(0, INTERRUPTIONS, EACH)]
KINDS = ("SIGINT", "SIGKILL", "sledd", "network")
WRITTEN = ("writing", "configuring", "starting", "operational")
TERMS = {"batch": "50%", "max_unavailable": {"rack": 2}}


class Disturbed:
    """A fleet whose controller and nodes reach sledd by two networks."""

    def __init__(self, fleet: Rack, chance: random.Random) -> None:
        self.fleet, self.chance = fleet, chance
        port = int(fleet.url.rpartition(":")[2])
        self.networks = [Proxy(port), Proxy(port)]
        controller, nodes = self.networks
        fleet.set(None, server=nodes.url, ca=str(fleet.folder / "ca.crt"), step_seconds=0.4, boot_seconds=0.2)
        fleet.begin_bmcs()
        self.arguments = ["-e", "image=v2", "-e", "again=true", "-e", f"sled_server={controller.url}"]
        self.playbook = self.play()
        self.tally: collections.Counter[str] = collections.Counter()

    def play(self) -> subprocess.Popen[str]:
        """Starts the same command as always."""
        return self.fleet.play(*self.arguments, rollout=TERMS)

    def begun(self) -> int:
        """How many writes began, of all nodes and generations."""
        statuses = [node["status"] for node in self.fleet.client.nodes()]
        return sum(max(one["generation"] - (one["phase"] not in WRITTEN), 0) for one in statuses)

    def disturb(self) -> None:
        """One interruption, after a few more writes. A playbook that ended is started again."""
        moment = self.begun() + self.chance.randint(1, 8)
        wait_for("writes, or the end of the playbook", lambda: self._ended() or self.begun() >= moment)
        if self._ended():
            self.tally[f"code {self.playbook.returncode}"] += 1
        else:
            time.sleep(self.chance.uniform(0, 0.4))  # between two steps as well
            kind = self.chance.choice(KINDS) if len(KINDS) < INTERRUPTIONS else KINDS[self.interruptions]
            self.tally[kind] += 1
            self._do(kind)
        if self._ended():
            self.playbook = self.play()

    @property
    def interruptions(self) -> int:
        """How many there were."""
        return sum(self.tally[kind] for kind in KINDS)

    def _ended(self) -> bool:
        return self.playbook.poll() is not None

    def _do(self, kind: str) -> None:
        if kind == "sledd":
            self.fleet.kill_sledd()
            time.sleep(self.chance.uniform(0, 3))
            self.fleet.start_sledd()
        elif kind == "network":
            cut = self.chance.choice([self.networks, self.networks[:1], self.networks[1:]])
            for network in cut:
                network.cut()
            time.sleep(self.chance.uniform(0.2, 4))
            for network in cut:
                network.heal()
        else:
            os.killpg(self.playbook.pid, signal.Signals[kind])
            self.playbook.wait(PATIENCE)

    def finish(self) -> None:
        """Lets the command end."""
        attempts = 0
        while self.playbook.wait(PATIENCE):
            attempts += 1
            assert attempts < 5, (self.fleet.folder / "playbook.log").read_text()[-4000:]
            self.playbook = self.play()


@pytest.fixture
def rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    fleet = Rack(tmp_path_factory.mktemp("rack"), NODES, racks=10, hooks=False)
    fleet.declare()
    yield fleet
    fleet.end()


@pytest.mark.parametrize(("number", "count"), list(enumerate(ROUNDS)))
def test_each_generation_is_written_once(rack: Rack, chance: random.Random, number: int, count: int) -> None:
    disturbed = Disturbed(rack, random.Random(f"{chance.random()} {number}"))  # SLED_SEED is one for all fleets
    while disturbed.interruptions < count:
        disturbed.disturb()
    disturbed.finish()
    print(dict(disturbed.tally), Path(rack.folder))
    written = 0
    for node in rack.nodes:
        found = rack.node(node)
        generation = found["binding"]["generation"]
        assert found["binding"]["satisfied"] and found["status"]["phase"] == "operational", node
        assert rack.writes(node) == dict.fromkeys(range(1, generation + 1), 1), node
        written += generation
    print(f"{disturbed.interruptions} interruptions, {written} writes, each generation of each node once")
    assert all(rollout["counts"]["failed"] == 0 for rollout in rack.rollouts())
