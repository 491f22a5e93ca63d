# SPDX-License-Identifier: Apache-2.0
"""The loop of the supervisor, over seeded fleets of machines that stall, fail and lose power."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import ApiError, Json, Unreachable
from ansible_collections.sled.fleet.plugins.module_utils.supervise import core
from ansible_collections.sled.fleet.plugins.module_utils.supervise.core import Action, State
from ansible_collections.sled.fleet.plugins.module_utils.supervise.loop import AWAITED, TOUCHING, Ended, Loop, Run
from ansible_collections.sled.fleet.plugins.module_utils.supervise.settings import Settings
from ansible_collections.sled.fleet.tests.unit.test_supervise_core import POLICY, TICK, Machine

WAVES = 200
BMC = ({"driver": "redfish", "address": "10.0.0.1"},)


class Fleet:
    """Machines under one clock, which passes only while the wave waits."""

    def __init__(self, seed: int, count: int) -> None:
        self.dice = random.Random(seed)
        self.clock, self.away_until, self.reads = 0.0, 0.0, 0
        self.machines = {f"n{i}": Machine(random.Random(seed * 100 + i)) for i in range(count)}
        self.running: list[tuple[float, Ended]] = []
        self.jobs: list[tuple[str, list[Action]]] = []

    def now(self) -> float:
        return self.clock

    def live(self) -> bool:
        return self.dice.random() < 0.9

    def moved(self) -> bool:
        return self.dice.random() < 0.2

    def read(self, nodes: Sequence[str]) -> dict[str, Json]:
        self.reads += 1
        assert len(set(nodes)) == len(nodes)
        if self.clock < self.away_until:
            raise Unreachable("no route")
        return {name: self.machines[name].node() for name in nodes if name in self.machines}

    def activity(self, node: Json) -> str:
        doing = {"wiping": "working", "writing": "working", "configuring": "working", "starting": "working"}
        behind = node["status"]["generation"] < node["binding"]["generation"]
        return "waiting" if behind else doing.get(node["status"]["phase"], "unknown")

    def start(self, settings: Settings, actions: list[Action]) -> None:
        assert settings.name not in [one.name for _, one in self.running if one.awaited], "it acts already"
        self.jobs.append((settings.name, actions))
        machine, reason = self.machines[settings.name], ""
        for action in actions:
            if action.verb in TOUCHING:
                assert not machine.moves(), f"{action} to {settings.name}, which is {machine.doing} and moves"
                reason = machine.enter() if action.verb == "enter" else machine.disk()
        ended = Ended(settings.name, reason, "" if actions else "on", any(action.verb in AWAITED for action in actions))
        self.running.append((self.clock + self.dice.uniform(0, 90), ended))

    def wait(self, seconds: float) -> list[Ended]:
        self.clock += max(min([seconds, *(at - self.clock for at, _ in self.running)]), 0.01)
        if self.clock >= self.away_until and self.dice.random() < 0.002:
            self.away_until = self.clock + self.dice.choice([60, 300, 1200])
        for machine in self.machines.values():
            while machine.now + TICK <= self.clock:
                machine.pass_time()
        ended = [one for at, one in self.running if at <= self.clock]
        self.running = [(at, one) for at, one in self.running if at > self.clock]
        return ended


def a_node(name: str, **more: Any) -> Settings:
    return Settings(name, name, POLICY, controls=BMC, **more)


def test_every_wave_ends_and_disturbs_nothing_that_moves() -> None:
    ends = set()
    for seed in range(WAVES):
        fleet = Fleet(seed, 5)
        wave = Loop([a_node(name) for name in fleet.machines], fleet)
        outcomes = wave.run()
        assert not fleet.running, f"seed {seed}: a job was left behind"
        assert sorted(outcomes) == sorted(fleet.machines)
        for name, outcome in outcomes.items():
            machine = fleet.machines[name]
            assert (outcome["state"] == "done") == (outcome["reason"] == ""), f"seed {seed}: {name}"
            assert outcome["state"] == "failed" or machine.doing == "operational", f"seed {seed}: {name}"
            assert machine.begun <= 1 + POLICY.retries + machine.losses, f"seed {seed}: {name}"
            assert outcome["changed"] == bool(machine.entered or machine.fell), f"seed {seed}: {name}"
            ends.add((outcome["state"], outcome["entry_method"], outcome["fallback"]))
    assert {("done", "idle", False), ("done", "power", False), ("done", "power", True)} <= ends
    assert any(state == "failed" for state, _, _ in ends)


class Stirred(Fleet):
    """Something moves all the time, and a read takes a while."""

    def __init__(self, count: int, takes: float) -> None:
        super().__init__(7, count)
        self.takes, self.at = takes, list[float]()

    def moved(self) -> bool:
        return True

    def read(self, nodes: Sequence[str]) -> dict[str, Json]:
        self.at.append(self.clock)
        self.clock += self.takes
        return super().read(nodes)


@pytest.mark.parametrize(("count", "takes", "gap"), [(1, 0.0, 0.02), (300, 0.0, 0.3), (3, 0.5, 5.0), (3, 2.0, 10.0)])
def test_reading_leaves_most_of_the_time_to_other_work(count: int, takes: float, gap: float) -> None:
    fleet = Stirred(count, takes)
    wave = Loop([a_node(name) for name in fleet.machines], fleet)
    while len(fleet.at) < 9:  # all are followed for as long
        wave._look() if wave._pause() <= 0 else fleet.wait(wave._pause())
    gaps = [after - before for before, after in itertools.pairwise(fleet.at)]
    assert min(gaps) >= gap - 1e-9 and max(gaps) <= gap + 0.02


def one(fleet: Fleet, settings: Settings, tell: list[tuple[str, str]] | None = None) -> Json:
    def record(run: Run, before: State) -> None:
        if tell is not None and before.stage != run.state.stage:
            tell.append((before.stage, run.state.stage))

    return Loop([settings], fleet, record).run()[settings.name]


def test_a_node_that_sledd_does_not_know() -> None:
    fleet = Fleet(1, 1)
    outcome = one(fleet, Settings("rack-7", "n9", POLICY))
    assert (outcome["state"], outcome["reason"]) == ("failed", "node n9 does not exist")
    assert fleet.jobs == []


def test_a_refusal_of_sledd_ends_the_wave() -> None:
    fleet = Fleet(1, 1)
    fleet.read = lambda nodes: (_ for _ in ()).throw(ApiError("GET", 403, {"detail": "role read"}))  # type: ignore[method-assign]
    with pytest.raises(ApiError, match="role read"):
        Loop([a_node("n0")], fleet).run()


def test_spare_time_is_used_and_holds_nothing_up() -> None:
    """Steps are taken only while no job runs, and nothing is read later for them."""
    fleet, with_work = Fleet(1, 5), Fleet(1, 5)
    Loop([a_node(name) for name in fleet.machines], fleet).run()
    steps = 0

    def spare() -> Iterator[str]:
        nonlocal steps
        while steps < 1000:
            steps += 1
            assert not with_work.running
            yield "a node"

    Loop([a_node(name) for name in with_work.machines], with_work).run(spare())
    assert steps == 1000
    assert with_work.clock < 1.5 * fleet.clock + 60, "each step of the double takes 10 ms"


def test_a_node_that_is_satisfied_is_not_asked_for_its_power() -> None:
    fleet = Fleet(1, 1)
    fleet.machines["n0"].doing = "operational"
    told: list[tuple[str, str]] = []
    outcome = one(fleet, a_node("n0"), told)
    assert (outcome["state"], outcome["changed"], outcome["seconds"]) == ("done", False, outcome["seconds"])
    assert told == [(core.CHOOSING, core.VERIFYING), (core.VERIFYING, core.DONE)]
    assert fleet.jobs == [("n0", [Action("verify")])]


def reliable(doing: str) -> tuple[Fleet, Machine]:
    """A fleet of one machine, which fails at nothing."""
    fleet = Fleet(3, 1)
    machine = fleet.machines["n0"]
    machine.doing, machine.dead, machine.confirms, machine.fails, machine.stalls = doing, False, "at once", 0, False
    return fleet, machine


def test_a_node_that_is_off_does_not_wait_for_its_plan() -> None:
    """What sledd last heard of it may be younger than its loss of power."""
    fleet, _ = reliable("idle")
    start = fleet.start

    def off(settings: Settings, actions: list[Action]) -> None:
        start(settings, actions)
        if not actions:
            at, ended = fleet.running.pop()
            fleet.running.append((at, ended._replace(power="off")))

    fleet.start = off  # type: ignore[method-assign]
    one(fleet, a_node("n0"))
    assert next(action.method for _, actions in fleet.jobs for action in actions if action.verb == "enter") == "power"


@pytest.mark.parametrize("activity", ["waiting", "running"])
def test_a_machine_that_changes_hands_is_reset(activity: str) -> None:
    """What runs on it, or waits for its plan, may be what its owner before has left there."""
    fleet, machine = reliable("idle")
    described = machine.node

    def node() -> Json:
        found = described()
        return {**found, "binding": {**found["binding"], "hands_over": True}}

    machine.node = node  # type: ignore[method-assign]
    fleet.activity = lambda node: activity if machine.doing == "idle" else "working"  # type: ignore[method-assign]
    one(fleet, a_node("n0"))
    entered = [action.method for _, actions in fleet.jobs for action in actions if action.verb == "enter"]
    assert set(entered) == {"power"}


def test_a_node_that_is_on_is_read_again_before_it_is_cut_off() -> None:
    """It fetched its plan while its power was read."""
    fleet, machine = reliable("off")
    start = fleet.start

    def on(settings: Settings, actions: list[Action]) -> None:
        start(settings, actions)
        if not actions:
            fleet.running[-1] = (fleet.clock + 0.5, fleet.running[-1][1])
            machine.doing, machine.begun, machine.boots, machine.moved = "plan", 1, 1, fleet.clock

    fleet.start = on  # type: ignore[method-assign]
    assert one(fleet, a_node("n0"))["state"] == "done"
    assert machine.entered == 0


def test_a_machine_that_moves_is_left_alone_however_long_it_takes() -> None:
    """Forty minutes of a wipe with a limit of five: nothing is switched."""
    fleet = Fleet(5, 1)
    machine = fleet.machines["n0"]
    machine.doing, machine.begun, machine.boots, machine.losses = "plan", 1, 1, 9
    machine.stalls, machine.fails, machine.confirms = False, 0, "at once"
    passed = machine.pass_time

    def slowly() -> None:
        machine.now += TICK
        if machine.now < 2400:  # one byte each three minutes
            if machine.now % 180 < TICK:
                machine.done, machine.moved = machine.done + 1, machine.now
            return
        machine.now -= TICK
        passed()

    machine.pass_time = slowly  # type: ignore[method-assign]
    node = machine.node
    machine.node = lambda: _with_total(node(), 100)  # type: ignore[method-assign]
    outcome = one(fleet, replace(a_node("n0"), policy=replace(POLICY, silent={"any": 300.0})))
    assert (outcome["state"], outcome["changed"]) == ("done", False)
    assert machine.entered == 0 and fleet.clock > 2400


@pytest.mark.parametrize("limit", [300.0, 305.0, 317.0])
@pytest.mark.parametrize("offset", [0.0, 7.0, 19.0])
def test_a_write_that_stalls_is_seen_in_time_and_named(limit: float, offset: float) -> None:
    """Also if no event reports its last movement, so that it is seen up to ten seconds late."""
    fleet = Fleet(7, 1)
    fleet.away_until, fleet.clock = float("inf"), offset  # sledd does not go away by chance
    fleet.read = lambda nodes: {name: _with_total(fleet.machines[name].node(), 100) for name in nodes}  # type: ignore[method-assign]
    fleet.live, fleet.moved = lambda: True, lambda: False  # type: ignore[method-assign]
    machine = fleet.machines["n0"]
    machine.doing, machine.begun, machine.boots, machine.step, machine.done = "stalled", 1, 1, 1, 3

    def stand() -> None:
        machine.now += TICK
        if machine.now <= 600:
            machine.done, machine.moved = machine.done + 1, machine.now

    machine.pass_time = stand  # type: ignore[method-assign]
    seen: list[tuple[float, str]] = []

    def tell(run: Run, before: State) -> None:
        if run.state.stage != before.stage and before.stage == core.IMAGING:
            seen.append((fleet.clock, run.state.reason))

    Loop([replace(a_node("n0"), policy=replace(POLICY, silent={"any": limit}, retries=0))], fleet, tell).run()
    ((when, reason),) = seen
    assert limit <= when - machine.moved <= limit + 10
    words = f"of {limit:.0f} s, because write stands at 33 B of 100 B; last moved: bytes"
    assert reason.startswith("silent 3") and reason.endswith(words)


def _with_total(node: Json, total: int) -> Json:
    if "progress" in node["status"]:
        node["status"]["progress"]["total"] = total
    return node
