# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.sled.fleet.plugins.module_utils.client import ApiError, Client, Json, SledError, Unreachable
from ansible_collections.sled.fleet.plugins.module_utils.supervise.core import DONE, WATCHING
from ansible_collections.sled.fleet.plugins.module_utils.supervise.watch import Target, last_lines, wait
from ansible_collections.sled.fleet.plugins.module_utils.waiting import ENTERED, WAITABLE, activity, judge
from ansible_collections.sled.fleet.plugins.modules import node as node_module
from ansible_collections.sled.fleet.plugins.modules import ready
from ansible_collections.sled.fleet.tests.unit.double import Sledd

Run = Callable[..., Json]


class Clock:
    """Time that passes only by pauses."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds


def test_phases_are_those_of_the_contract() -> None:
    root = Path(__file__).parents[2]
    contract = json.loads((root / "contract/openapi.json").read_text(encoding="utf-8"))
    parameters = {one["name"]: one["schema"] for one in contract["paths"]["/v1/nodes"]["get"]["parameters"]}
    phases = parameters["phase"]["items"]["enum"]
    assert [*WAITABLE, "failed"] == [phase for phase in phases if phase != "discovered"], "those that can be waited for"
    assert yaml.safe_load(ready.DOCUMENTATION)["options"]["phase"]["choices"] == WAITABLE
    assert set(ENTERED) < set(phases)


def a_node(phase: str, observed: int, requested: int | None, satisfied: bool = False, **status: Any) -> Json:
    found: Json = {
        "mac": "52:54:00:77:00:01",
        "name": "n1",
        "status": {"phase": phase, "generation": observed, **status},
    }
    if requested is not None:
        found["binding"] = {"generation": requested, "image": "v1", "satisfied": satisfied}
    return found


@pytest.mark.parametrize(
    ("node", "phase", "generation", "outcome"),
    [
        (a_node("operational", 2, 2, True), None, None, "ready"),
        (a_node("operational", 1, 2), None, None, "pending"),
        (a_node("operational", 2, 2, True), None, 3, "pending"),
        (a_node("operational", 3, 3, True), None, 2, "ready"),
        # Only sledd decides: whatever the phase is, the binding's `satisfied` counts.
        (a_node("rescue", 2, 2, True, before="operational"), None, None, "ready"),
        (a_node("rescue", 2, 2, before="writing"), None, None, "pending"),
        (a_node("wiped", 2, 2, True), None, None, "ready"),
        (a_node("wiped", 2, 2), None, None, "pending"),
        (a_node("operational", 2, 2), None, None, "pending"),
        (a_node("captured", 2, 2, True), None, None, "ready"),
        (a_node("capturing", 2, 2), None, None, "pending"),
        (a_node("captured", 2, None), None, None, "ready"),
        (a_node("wiped", 2, None), None, None, "ready"),
        (a_node("unconfirmed", 2, 2, True), None, None, "ready"),
        (a_node("unconfirmed", 2, None), None, None, "ready"),
        (a_node("captured", 2, None), None, 3, "pending"),
        (a_node("failed", 2, 2), None, None, "failed"),
        (a_node("failed", 2, 2), None, 3, "pending"),
        (a_node("failed", 1, 2), None, None, "pending"),
        (a_node("rescue", 2, 2), "rescue", None, "ready"),
        (a_node("operational", 1, 2), "operational", None, "pending"),
        (a_node("writing", 2, 2), None, None, "pending"),
        (a_node("writing", 2, 2), "writing", None, "ready"),
        (a_node("idle", 2, None), "idle", None, "ready"),
        (a_node("idle", 2, None), None, None, "pending"),
        (a_node("operational", 2, None), None, None, "ready"),
        (a_node("failed", 2, None), None, None, "failed"),
        (a_node("", 0, 1), None, None, "pending"),
    ],
)
def test_judge(node: Json, phase: str | None, generation: int | None, outcome: str) -> None:
    assert judge(node, phase, generation) == outcome


def test_waits_through_the_phases(sledd: Sledd, client: Client) -> None:
    clock = Clock()
    sledd.scenes = [a_node("booting", 1, 2), a_node("writing", 2, 2), a_node("operational", 2, 2, True)]
    seen = wait(client, Target(["n1"], 1, interval=2), clock, clock.pause)
    assert seen.of(DONE) == ["n1"]
    assert clock.now == 4


def test_a_server_that_is_away_is_asked_again(sledd: Sledd, client: Client) -> None:
    clock = Clock()
    sledd.refuse = [503, 502]
    sledd.scenes = [a_node("operational", 2, 2, True)]
    assert wait(client, Target(["n1"], 1), clock, clock.pause).of(DONE)
    sledd.refuse = [503] * 100
    with pytest.raises(ApiError, match="503"):
        wait(client, Target(["n1"], 1, timeout=10), clock, clock.pause)
    with pytest.raises(Unreachable):
        wait(Client("http://127.0.0.1:1", "t"), Target(["n1"], 1, timeout=10), clock, clock.pause)


def test_a_refusal_ends_the_wait(sledd: Sledd, client: Client) -> None:
    clock = Clock()
    sledd.refuse = [403]
    with pytest.raises(ApiError, match="403"):
        wait(client, Target(["n1"], 1), clock, clock.pause)
    with pytest.raises(SledError, match="node n1 does not exist"):
        wait(client, Target(["n1"], 1), clock, clock.pause)
    assert clock.now == 0


def test_time_runs_out(sledd: Sledd, client: Client) -> None:
    clock = Clock()
    sledd.node("n1", 1, phase="writing", generation=2)["binding"] = {"generation": 2, "image": "v1"}
    seen = wait(client, Target(["n1"], 1, timeout=10, interval=4), clock, clock.pause)
    assert seen.of(WATCHING) == ["n1"]
    assert clock.now == 10


def writing(done: int) -> Json:
    return a_node("writing", 2, 2, step=2, verb="write", progress={"bytes": done, "total": 9000, "rate": 1})


def test_a_slow_node_is_waited_for_and_a_silent_one_is_not(sledd: Sledd, client: Client) -> None:
    clock = Clock()
    target = Target(["n1"], 1, timeout=100_000, interval=100, silent={"any": 300.0})
    sledd.scenes = [writing(done) for done in range(20)] + [writing(19)] * 10
    seen = wait(client, target, clock, clock.pause)
    assert clock.now == 1900 + 300, "20 steps of 100 s, and the limit"
    assert len(sledd.scenes) == 7
    (entry,) = seen.entries()
    assert entry["outcome"] == "pending"
    assert entry["detail"] == (
        "n1 is writing, generation 2: silent 300 of 300 s, because write stands at 19 B of 9.00 kB; last moved: bytes"
    )


def test_time_without_sledd_is_nobody_s_silence(sledd: Sledd, client: Client) -> None:
    clock = Clock()
    target = Target(["n1"], 1, timeout=100_000, interval=100, silent={"any": 300.0})
    sledd.refuse = [503] * 8
    sledd.scenes = [writing(1), a_node("operational", 2, 2, True)]
    assert wait(client, target, clock, clock.pause).of(DONE)
    sledd.refuse = [503] * 100
    with pytest.raises(ApiError, match="503"):
        wait(client, target, clock, clock.pause)
    assert clock.now == 900 + 900


def test_limits_of_silence_are_checked(module: Run) -> None:
    for wrong, words in (({"any": 0}, "silent: any: 0: want seconds"), ({"writ": 1, "any": 2}, "'writ' is not a step")):
        assert words in module(ready, nodes=["n1"], silent=wrong)["msg"]


def wave(sledd: Sledd) -> None:
    """n1 is ready, n2 failed, n3 writes."""
    for number, (phase, status) in enumerate(
        [("operational", {}), ("failed", {"code": 5, "verb": "write", "reason": "digest mismatch"}), ("writing", {})],
        start=1,
    ):
        node = sledd.node(f"n{number}", number, phase=phase, generation=2, **status)
        node["binding"] = {"generation": 2, "image": "v1", "satisfied": phase == "operational"}


def test_failing_early_says_why(sledd: Sledd, module: Run) -> None:
    wave(sledd)
    result = module(ready, nodes=["n1", "n2", "n3"])
    assert result["failed"]
    assert result["msg"] == (
        "1 of 3 nodes ready, 3 required;"
        " n2 failed: write: code 5 integrity: digest mismatch; n3 is writing, generation 2"
    )
    assert result["ready"] == ["n1"]
    assert result["not_ready"] == ["n2", "n3"]
    failed = next(entry for entry in result["nodes"] if entry["outcome"] == "failed")
    assert failed["node"] == "n2"
    assert failed["code"] == 5
    assert failed["reason"] == "digest mismatch"
    assert failed["detail"] == "write: code 5 integrity: digest mismatch"
    assert failed["log"] == ["digest mismatch"]
    details = {entry["node"]: entry["detail"] for entry in result["nodes"] if entry["outcome"] != "failed"}
    assert details == {"n1": "", "n3": "n3 is writing, generation 2"}


def test_a_number_suffices(sledd: Sledd, module: Run) -> None:
    wave(sledd)
    assert not module(ready, nodes=["n1", "n2", "n3"], require=1)["failed"]
    assert module(ready, nodes=["n1", "n2"], require="2")["failed"]
    assert "after 0 s" in module(ready, nodes=["n1", "n2", "n3"], require="2", wait=0)["msg"]
    for wrong in ("0", "4", "most"):
        assert "want all, or a number from 1 to 3" in module(ready, nodes=["n1", "n2", "n3"], require=wrong)["msg"]


def test_without_fail_fast_every_verdict_is_awaited(sledd: Sledd, module: Run) -> None:
    wave(sledd)
    result = module(ready, nodes=["n1", "n2", "n3"], fail_fast=False, wait=0)
    assert "after 0 s" in result["msg"]
    last = sledd.objects["nodes"]["52:54:00:77:00:03"]
    last["status"]["phase"], last["binding"]["satisfied"] = "operational", True
    assert module(ready, nodes=["n1", "n2", "n3"], fail_fast=False)["ready"] == ["n1", "n3"]


def test_check_mode_looks_once(sledd: Sledd, module: Run) -> None:
    wave(sledd)
    result = module(ready, nodes=["n1", "n2", "n3", "n1"], check=True)
    assert not result["failed"]
    assert len(result["nodes"]) == 3
    assert not result["changed"]


def test_many_nodes_are_read_as_a_list(sledd: Sledd, module: Run) -> None:
    for number in range(1, 13):
        sledd.node(f"n{number}", number, phase="operational", generation=1)
    assert len(module(ready, nodes=[f"n{number}" for number in range(1, 13)])["ready"]) == 12
    assert {path.partition("?")[0] for _, path, _ in sledd.asked} == {"/v1/nodes"}


def test_requested_generation_is_reported(sledd: Sledd, module: Run) -> None:
    sledd.node("n1", 1, phase="operational", generation=1)["binding"] = {"generation": 2, "image": "v2"}
    assert "n1 is operational, generation 1 (requested 2)" in module(ready, nodes=["n1"], wait=0)["msg"]


def test_log_that_cannot_be_read_does_not_hide_the_failure(sledd: Sledd, module: Run) -> None:
    wave(sledd)
    sledd.log = ""
    assert module(ready, nodes=["n2"])["nodes"][0]["log"] == []
    sledd.refuse = []
    assert last_lines("\n".join(map(str, range(30))) + "\n--- dmesg\nx")[0] == "10"


@pytest.mark.parametrize(
    ("phase", "observed", "stage", "outcome"),
    [
        ("idle", 1, "entered", "pending"),
        ("booting", 2, "entered", "pending"),
        ("writing", 1, "entered", "pending"),
        ("writing", 2, "entered", "ready"),
        ("writing", 2, "starting", "pending"),
        ("starting", 2, "starting", "ready"),
        ("starting", 2, "done", "pending"),
        ("operational", 2, "entered", "ready"),
        ("operational", 2, "starting", "ready"),
        ("operational", 1, "entered", "pending"),
        ("failed", 2, "entered", "failed"),
    ],
)
def test_stages(phase: str, observed: int, stage: str, outcome: str) -> None:
    satisfied = (phase, observed) == ("operational", 2)
    assert judge(a_node(phase, observed, 2, satisfied), stage=stage) == outcome


def test_a_failure_that_is_known_does_not_count() -> None:
    node = a_node("failed", 2, 2, since="2026-11-21T22:00:00Z")
    assert judge(node, known="2026-11-21T22:00:00Z") == "pending"
    assert judge(node, known="2026-11-21T21:00:00Z") == "failed"


NOW = datetime(2026, 11, 21, 22, 0, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("node", "seconds", "doing"),
    [
        (a_node("writing", 2, 2), 5, "working"),
        (a_node("starting", 2, 2), 500, "working"),
        (a_node("writing", 1, 2), 5, "unknown"),
        (a_node("writing", 2, None), 5, "unknown"),
        (a_node("idle", 1, 2), 5, "waiting"),
        (a_node("booting", 2, 2), 89, "waiting"),
        (a_node("wiped", 1, 2), 90, "unknown"),
        (a_node("failed", 1, 2), 5, "waiting"),
        (a_node("failed", 2, 2), 5, "unknown"),
        (a_node("operational", 1, 2), 5000, "running"),
        (a_node("captured", 2, 2, True), 5000, "running"),
        (a_node("unconfirmed", 2, 2, True), 5000, "running"),
        (a_node("rescue", 2, 2), 5, "unknown"),
        (a_node("", 0, 2), None, "unknown"),
    ],
)
def test_activity(node: Json, seconds: int | None, doing: str) -> None:
    if seconds is not None:
        node["status"]["seen"] = (NOW - timedelta(seconds=seconds)).isoformat().replace("+00:00", ".123456789Z")
    assert activity(node, NOW) == doing


def test_node_returns_its_activity(sledd: Sledd, module: Run) -> None:
    sledd.node("n1", 1, phase="operational", generation=1)
    assert module(node_module, name="n1", check=True)["activity"] == "running"
    assert module(node_module, name="n2", mac="52:54:00:77:00:02")["activity"] == "unknown"
    assert module(node_module, name="n9", state="absent")["activity"] == "unknown"
