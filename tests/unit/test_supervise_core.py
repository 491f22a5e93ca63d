# SPDX-License-Identifier: Apache-2.0
"""The core of the supervisor: seeded machines that stall, fail and lose power, and a sledd that is away."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.supervise import core
from ansible_collections.sled.fleet.plugins.module_utils.supervise.core import (
    Acted,
    Action,
    Away,
    Look,
    Method,
    Policy,
    State,
    advance,
)

SCHEDULES = 10_000
TICK = 20.0
SILENT = 200.0
POLICY = Policy(
    verify=120,
    methods={"idle": Method(60), "warm": Method(120), "power": Method(300, 1)},
    silent={"any": SILENT},
    timeout=20_000,
    confirm=200,
)
PLAN = [("wiping", "wipe"), ("writing", "write"), ("configuring", "configure")]


class Machine:
    """A machine that boots the Sled system when entered, works through its plan, and starts its system."""

    def __init__(self, dice: random.Random) -> None:
        self.dice, self.now, self.moved = dice, 0.0, 0.0
        self.doing, self.boots, self.step, self.done = "idle" if dice.random() < 0.4 else "off", 0, 0, 0
        self.since, self.ready_at, self.begun, self.losses = 0.0, 0.0, 0, 0
        self.confirmed, self.entered, self.fell = False, 0, 0
        self.fails = dice.choice([0, 0, 0, 1, 4, 6])
        self.stalls, self.stalled = dice.random() < 0.2, False
        self.dead = dice.random() < 0.1  # hears no entry method
        self.confirms = dice.choice(["at once", "late", "from disk", "never"])

    def enter(self) -> str:
        self.entered += 1
        if self.dead or self.dice.random() < 0.1:
            return "the control does not answer"
        self._boot(self.dice.uniform(0, 250))
        return ""

    def disk(self) -> str:
        self.fell += 1
        if self.confirms == "from disk":
            self._become("operational")
        return "" if self.dice.random() < 0.9 else "the control does not answer"

    def _boot(self, seconds: float) -> None:
        self.doing, self.ready_at, self.step, self.done = "post", self.now + seconds, 0, 0

    def _become(self, doing: str) -> None:
        self.doing, self.since, self.moved = doing, self.now, self.now

    def pass_time(self) -> None:
        """One tick."""
        self.now += TICK
        if self.doing == "post" and self.now >= self.ready_at:
            self.boots, self.begun = self.boots + 1, self.begun + 1
            self._become("plan")
        elif self.doing == "plan":
            self._work()
        elif self.doing == "starting":
            wait = {"at once": 20.0, "late": 150.0}.get(self.confirms, float("inf"))
            if self.now - self.since >= wait:
                self._become("operational")

    def _work(self) -> None:
        if self.losses < 2 and self.dice.random() < 0.01:
            self.losses += 1
            return self._boot(self.dice.uniform(0, 150))
        if self.step == 1 and self.stalls:
            self.stalls = self.dice.random() < 0.5
            self.doing, self.stalled = "stalled", True
        elif self.step == 1 and self.fails:
            self._become("failed")
        elif self.dice.random() < 0.7:
            self.done, self.moved = self.done + 1, self.now
            if self.done >= 4:
                self.step, self.done = self.step + 1, 0
                self.since = self.now
            if self.step == len(PLAN):
                self._become("starting")
        return None

    def node(self) -> Json:
        status: Json = {"boot_id": f"b{self.boots}", "since": str(self.since), "generation": 2 if self.begun else 1}
        index = min(self.step, len(PLAN) - 1)
        if self.doing in ("plan", "stalled"):
            phase, verb = PLAN[index]
            status |= {"phase": phase, "verb": verb, "step": index + 1, "progress": {"bytes": self.done, "total": 9}}
        elif self.doing == "failed":
            status |= {"phase": "failed", "verb": "write", "code": self.fails, "reason": "as configured"}
        elif self.doing in ("starting", "operational"):
            status |= {"phase": self.doing, "step": 4, "verb": "kexec"}
        else:
            status |= {"phase": PLAN[index][0] if self.begun else "idle"}
        binding = {"generation": 2, "satisfied": self.doing == "operational", "image": "v1"}
        return {"mac": "m", "name": "n1", "binding": binding, "status": status}

    def look(self) -> Look:
        doing = {"plan": "working", "stalled": "working", "starting": "working", "idle": "waiting"}
        here = {"power"} | ({"idle"} if self.doing == "idle" else set())
        return Look(self.now, self.node(), doing.get(self.doing, "unknown"), frozenset(here), power=True)

    def moves(self) -> bool:
        """Whether it is within a plan that moves, or in a system whose time to confirm is not over."""
        return self.doing in ("plan", "starting") and self.now - self.moved < SILENT - TICK


def carry_out(machine: Machine, actions: list[Action], seed: int) -> list[Acted]:
    """Does what the core requests, and checks that it may be done."""
    ended = []
    for action in actions:
        assert action.verb in ("note", "enter", "disk", "lost", "verify", "end")
        if action.verb == "verify":
            assert machine.doing == "operational", f"seed {seed}: it is verified before its system has confirmed"
            ended.append(Acted(machine.dice.choice(["", "another system answers"])))
        if action.verb in ("enter", "disk"):
            assert not machine.moves(), f"seed {seed}: {action} to a machine that is {machine.doing} and moves"
            ended.append(Acted(machine.enter() if action.verb == "enter" else machine.disk()))
    return ended


def run(seed: int) -> tuple[State, Machine, list[Action]]:
    """One node from start to end; every schedule must have one."""
    dice = random.Random(seed)
    machine, state, actions = Machine(dice), State("n1"), list[Action]()
    away_until = 0.0
    while state.stage not in core.ENDED:
        assert machine.now < 10_000, f"seed {seed}: it waits without end: {state}"
        machine.pass_time()
        if machine.now >= away_until and dice.random() < 0.02:
            away_until = machine.now + dice.choice([60, 300, 700, 1200])
        events: list[Any] = [Away(machine.now, "no route") if machine.now < away_until else machine.look()]
        while events:
            state, requested = advance(state, events.pop(0), POLICY)
            actions += requested
            events += carry_out(machine, requested, seed)
    return state, machine, actions


def test_every_schedule_ends_with_a_reason_and_disturbs_nothing_that_moves() -> None:
    for seed in range(SCHEDULES):
        state, machine, actions = run(seed)
        assert (state.stage == core.DONE) == (not state.reason), f"seed {seed}"
        assert state.stage == core.FAILED or machine.doing == "operational", f"seed {seed}"
        assert actions[-1].verb == "end" and sum(action.verb == "end" for action in actions) == 1, f"seed {seed}"
        assert machine.begun <= 1 + POLICY.retries + machine.losses, f"seed {seed}: the plan started too often"
        assert machine.fell <= 1 and sum(action.verb == "lost" for action in actions) <= 1, f"seed {seed}"
        attempts = sum(1 + method.retries for method in POLICY.methods.values())
        assert machine.entered <= attempts * (1 + POLICY.retries), f"seed {seed}"
        assert advance(state, machine.look(), POLICY) == (state, []), f"seed {seed}: it goes on after its end"


@pytest.mark.parametrize(
    ("binding", "verified"),
    [({"image": "v2"}, True), ({"image": ""}, False), ({"image": "v2", "configure": "none"}, False)],
)
def test_a_system_is_verified_before_its_end(binding: Json, verified: bool) -> None:
    node = {"mac": "m", "name": "n1", "binding": {"generation": 2, "satisfied": True, **binding}, "status": {}}
    look = Look(0, node, "running")
    state, actions = advance(State("n1"), look, POLICY)
    assert ([action.verb for action in actions], state.found) == (["verify"] if verified else ["end"], True)
    if verified:
        assert advance(state, look, POLICY)[1] == advance(state, Away(2000, "no route"), POLICY)[1] == []
        assert advance(state, Acted(), POLICY)[1] == [Action("end")]
        failed, actions = advance(state, Acted("no SSH"), POLICY)
        assert (failed.stage, failed.reason, actions) == (core.FAILED, "no SSH", [Action("end", detail="no SSH")])
    assert advance(State("n1"), look, replace(POLICY, verify=0))[0].stage == core.DONE


def test_an_exit_code_that_mends_nothing_ends_it() -> None:
    seen = 0
    for seed in range(500):
        state, machine, _ = run(seed)
        if machine.doing == "failed" and machine.fails == 4 and "code 4" in state.reason:
            assert machine.begun <= 1 + machine.losses + state.round, f"seed {seed}"
            assert state.round == 0 or machine.stalled, f"seed {seed}"
            seen += 1
    assert seen


def a_look(now: float, phase: str, generation: int = 2, since: str = "s", **more: Any) -> Look:
    binding = {"generation": 2, "satisfied": False}
    status = {"phase": phase, "generation": generation, "since": since, "boot_id": "b", **more.pop("status", {})}
    options: Json = {"activity": "unknown", "open": frozenset({"power"}), "power": True, **more}
    return Look(now, {"mac": "m", "name": "n1", "binding": binding, "status": status}, **options)


def test_what_executes_its_plan_is_followed_and_not_entered() -> None:
    state, actions = advance(State("n1"), a_look(0, "writing", activity="working"), POLICY)
    assert (state.stage, actions) == (core.IMAGING, [])
    state, actions = advance(State("n1"), a_look(0, "starting", activity="working"), POLICY)
    assert (state.stage, actions) == (core.CONFIRMING, [])


@pytest.mark.parametrize(("final", "tries"), [(False, 2), (True, 1)])
def test_the_ladder_in_order_with_retries(final: bool, tries: int) -> None:
    state, entered, now = State("n1"), list[str](), 0.0
    while state.stage != core.FAILED:
        state, actions = advance(state, a_look(now, "idle", 1, open=frozenset({"idle", "power", "warm"})), POLICY)
        entered += [action.method for action in actions if action.verb == "enter"]
        state, _ = advance(state, Acted("no answer", final), POLICY) if state.stage == core.ACTING else (state, [])
        now += 1
    assert entered == ["idle", "warm", *["power"] * tries]
    assert state.reason == "power failed: no answer"


def test_no_method_and_no_binding_have_their_words() -> None:
    state, actions = advance(State("n1"), a_look(0, "idle", 1, open=frozenset()), POLICY)
    assert (state.reason, actions) == ("no entry method is available", [Action("end", detail=state.reason)])
    unbound = a_look(0, "idle")
    del unbound.node["binding"]
    assert advance(State("n1"), unbound, POLICY)[0].reason == "n1 has no binding"
    state, _ = advance(State("n1"), a_look(0, "writing", activity="working"), POLICY)
    other = a_look(1, "writing")
    other.node["binding"]["generation"] = 3
    assert advance(state, other, POLICY)[0].reason == "its binding was changed to generation 3 in this run"


def test_sledd_that_stays_away_ends_it_and_touches_nothing() -> None:
    state, actions = advance(State("n1"), a_look(0, "writing", activity="working"), POLICY)
    for now in range(10, 911, 100):
        state, actions = advance(state, Away(now, "no route"), POLICY)
    assert [action.verb for action in actions] == ["end"]
    assert state.reason == "sledd has not answered for 900 s: no route"


def test_a_system_that_does_not_confirm_is_started_from_its_disk_once() -> None:
    state, verbs = State("n1"), list[str]()
    for now in range(0, 1000, 50):
        state, actions = advance(state, a_look(now, "starting", activity="working"), POLICY)
        verbs += [action.verb for action in actions]
        if state.stage == core.ACTING:
            state, _ = advance(state, Acted(), POLICY)
    assert verbs == ["disk", "lost", "end"]
    words = "its system did not confirm, nor after a start from its disk: silent 200 of 200 s, because phase"
    assert state.reason.startswith(words)
    state, _ = advance(State("n1"), a_look(0, "starting", activity="working"), replace(POLICY, fallback=False))
    state, actions = advance(state, a_look(200, "starting"), replace(POLICY, fallback=False))
    assert [action.verb for action in actions] == ["lost", "end"]


@pytest.mark.parametrize("code", [1, 6])
def test_a_failure_that_a_retry_may_mend_is_known_afterwards(code: int) -> None:
    failed: Json = {"status": {"code": code, "verb": "write", "reason": "no answer"}}
    state, _ = advance(State("n1"), a_look(0, "writing", activity="working"), POLICY)
    state, actions = advance(state, a_look(10, "failed", since="t", **failed), POLICY)
    assert (state.stage, state.round, actions) == (core.CHOOSING, 1, [])
    state, actions = advance(state, a_look(20, "failed", since="t", **failed), POLICY)
    assert [action.verb for action in actions] == ["note", "enter"]
    state, _ = advance(state, Acted(), POLICY)
    assert advance(state, a_look(30, "failed", since="t", **failed), POLICY)[0].stage == core.ENTERING
    state, actions = advance(state, a_look(40, "failed", since="u", **failed), POLICY)
    assert state.reason == f"write: code {code} {'failed' if code == 1 else 'network'}: no answer"


def test_without_entry_methods_a_node_is_entered_by_others() -> None:
    """The schedules of machines that somebody else enters: only what is done already is done again."""
    ends = set()
    for seed in range(500):
        machine, state, seen = Machine(random.Random(seed)), State("n1"), list[Action]()
        policy = replace(POLICY, methods={}, wait=300, fallback=False)
        machine.enter()
        while state.stage not in core.ENDED:
            assert machine.now < 10_000, f"seed {seed}: it waits without end: {state}"
            machine.pass_time()
            events: list[Any] = [machine.look()]
            while events:
                state, actions = advance(state, events.pop(0), policy)
                seen += actions
                events += carry_out(machine, actions, seed)
        assert {action.verb for action in seen} <= {"verify", "lost", "end"}, f"seed {seed}"
        assert (state.stage == core.DONE) == (not state.reason), f"seed {seed}"
        assert state.stage == core.FAILED or machine.doing == "operational", f"seed {seed}"
        ends.add((state.stage, machine.doing))
    assert {(core.DONE, "operational"), *((core.FAILED, doing) for doing in ("failed", "stalled", "idle"))} <= ends


def test_how_long_it_is_waited_for_somebody_else() -> None:
    policy = replace(POLICY, methods={}, wait=300)
    state, idle = State("n1"), [a_look(now, "idle", 1) for now in (0, 100, 1000, 1199)]
    events: list[Look | Away] = [*idle[:2], Away(950, "no route"), *idle[2:]]  # its silence is not that of the node
    for event in events:
        state, actions = advance(state, event, policy)
        assert (state.stage, actions) == (core.CHOOSING, [])
    late, actions = advance(state, a_look(1200, "idle", 1), policy)
    assert late.reason == "its plan has not started within 300 s: it is idle, generation 1 (requested 2)"
    assert actions == [Action("end", detail=late.reason)]
    assert advance(state, a_look(1200, "writing", activity="working"), policy)[0].stage == core.IMAGING
    failed, _ = advance(state, a_look(1200, "failed", status={"code": 5, "verb": "write", "reason": "digest"}), policy)
    assert failed.reason == "write: code 5 integrity: digest"
    at_once, _ = advance(State("n1"), a_look(0, "operational"), replace(policy, wait=0))
    assert at_once.reason == "its plan has not started within 0 s: it is operational, generation 2"
