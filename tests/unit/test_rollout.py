# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest
from ansible_collections.sled.fleet.plugins.module_utils import rollouts
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json
from ansible_collections.sled.fleet.plugins.modules import rollout
from ansible_collections.sled.fleet.tests.unit.double import Sledd

Run = Callable[..., Json]
MAC = "52:54:00:77:00:01"
TERMS: Json = {"desired": "image v2", "canary": "1"}


def start(module: Run, *nodes: str, **options: Any) -> Json:
    return module(rollout, state="started", nodes=list(nodes), **{**TERMS, **options})


def running(module: Run, node: str, **options: Any) -> Json:
    return module(rollout, state="running", name="reimage-1", node=node, **options)


def puts(sledd: Sledd) -> list[tuple[str, Json]]:
    items = [dict(item) for method, _, body in sledd.asked if method == "PUT" for item in body["items"]]
    return [(item.pop("node"), item) for item in items]


def test_starts_as_requested_and_returns_the_waves(sledd: Sledd, module: Run) -> None:
    result = start(
        module,
        MAC.replace(":", "-").upper(),
        "n2",
        "n3",
        batch="25%",
        max_unavailable={"rack": 1},
        pause=0,
        kind="wipe",
    )
    assert (result["changed"], result["name"]) == (True, "wipe-1")
    method, path, body = sledd.asked[-1]
    assert (method, path) == ("POST", "/v1/rollouts?kind=wipe")
    assert body == {
        **TERMS,
        "nodes": [MAC.replace(":", "-").upper(), "n2", "n3"],
        "batch": "25%",
        "max_unavailable": {"rack": 1},
    }
    assert result["waves"] == [["52-54-00-77-00-01"], ["n2", "n3"]], "by the names of the request"


def test_nothing_to_do_starts_nothing(sledd: Sledd, module: Run) -> None:
    result = start(module, among=["n1", "n2"])
    assert (result["changed"], result["name"], result["waves"]) == (False, "", [])
    assert sledd.rollouts == {}


def test_check_mode_reports_nothing_to_sledd(sledd: Sledd, module: Run) -> None:
    assert start(module, "n1", check=True)["changed"]
    assert not start(module, check=True)["changed"]
    assert not running(module, "n1", check=True)["started"]
    assert sledd.asked == []


def test_what_is_done_is_not_done_again_on_resumption(sledd: Sledd, module: Run) -> None:
    start(module, "n1", "n2", "n3", again=True)
    sledd.rollouts["reimage-1"]["runs"][0]["state"] = "done"
    assert start(module, "n1", "n2", "n3", again=True)["waves"] == [["n2", "n3"]]
    assert len(sledd.rollouts) == 1


def test_a_node_that_was_never_ended_has_its_turn_although_its_binding_is_satisfied(sledd: Sledd, module: Run) -> None:
    start(module, "n1", "n2", "n3")
    runs = sledd.rollouts["reimage-1"]["runs"]
    runs[0]["state"], runs[1]["state"] = "done", "running"
    for nodes, asked in (([], ["n2", "n3"]), (["n3"], ["n3", "n2"])):
        assert start(module, *nodes, among=["n1", "n2", "n3"])["waves"] == [["n2", "n3"]]
        assert sledd.asked[-1][2]["nodes"] == asked
    assert start(module, among=["n1", "n2"], desired="image v3")["waves"] == [], "another text is another rollout"
    sledd.rollouts["reimage-1"]["state"] = "done"
    assert not start(module, among=["n1", "n2", "n3"])["changed"]


def test_a_node_is_started_and_ended(sledd: Sledd, module: Run) -> None:
    start(module, "n1", "n2")
    started = running(module, "n1")
    assert (started["started"], started["changed"], started["run"]["from"]) == (True, True, 3)
    done = module(rollout, state="done", name="reimage-1", node="n1", entry_method="warm")
    assert done["run"]["state"] == "done"
    assert puts(sledd) == [("n1", {"state": "running"}), ("n1", {"state": "done", "entry_method": "warm"})]
    assert "is not one of rollout reimage-1" in running(module, "n9")["msg"]
    assert "reimage-9 does not exist" in module(rollout, state="running", name="reimage-9", node="n1")["msg"]


def test_the_canary_comes_first(sledd: Sledd, module: Run) -> None:
    start(module, "n1", "n2")
    early = running(module, "n2")
    assert (early["started"], early["changed"]) == (False, False)
    assert early["reason"] == "the canary of rollout reimage-1 is not done: n1"
    module(rollout, state="failed", name="reimage-1", node="n1", reason="x" * 3000)
    assert puts(sledd) == [("n1", {"state": "failed", "reason": "x" * 2048})]
    assert running(module, "n2")["reason"] == "rollout reimage-1 is stopped: canary n1 failed"


def test_a_canary_that_nobody_runs_has_failed(sledd: Sledd, module: Run) -> None:
    start(module, "n1", "n2")
    running(module, "n1")
    assert "canary n1 failed" in running(module, "n2", nodes=["n1", "n2"])["reason"]
    assert puts(sledd)[-1] == ("n1", {"state": "failed", "reason": rollouts.LEFT})


def test_a_stop_in_the_same_moment_leaves_the_node_alone(
    sledd: Sledd, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.start_rollout({**TERMS, "nodes": ["n1"]}, "reimage")

    put = client.put_runs

    def stopped(name: str, items: list[Json]) -> Json:
        sledd.rollouts[name]["state"] = "stopped"
        return put(name, items)

    monkeypatch.setattr(client, "put_runs", stopped)
    result = rollouts.start_node(client, {"name": "reimage-1", "node": "n1", "nodes": []})
    assert (result["started"], result["reason"]) == (False, "rollout reimage-1 is stopped")


def test_the_pause_between_waves_is_waited_for(sledd: Sledd, client: Client) -> None:
    client.start_rollout({**TERMS, "nodes": ["n1", "n2"], "pause": 60}, "reimage")
    end = "2026-11-21T22:00:00.123456789Z"
    sledd.rollouts["reimage-1"]["runs"][0] |= {"state": "done", "end": end}
    now = rollouts._seconds(end) + 48
    paused: list[float] = []

    def pause(seconds: float) -> None:
        nonlocal now
        now += seconds
        paused.append(seconds)

    options: Json = {"name": "reimage-1", "node": "n2", "nodes": []}
    assert rollouts.start_node(client, options, lambda: now, pause)["started"]
    assert paused == [5, 5, 2]
    assert rollouts.start_node(client, options, lambda: 0.0, pause)["started"], "what runs already is not held up"
    assert len(paused) == 3


def test_returns_the_result(sledd: Sledd, module: Run) -> None:
    start(module, "n1", "n2")
    stored = sledd.rollouts["reimage-1"]
    stored["runs"][0] |= {
        "state": "done",
        "entry_method": "idle",
        "begin": "2026-11-21T22:00:00Z",
        "end": "2026-11-21T22:01:01Z",
        "start": "kexec",
    }
    stored["runs"][1]["state"] = "running"
    stored["counts"] = {"waiting": 0, "running": 0, "done": 1, "failed": 1}
    result = module(rollout, state="ended", name="reimage-1", nodes=["n1", "n2"])
    assert not result["changed"]
    assert result["failures"] == {"n2": rollouts.LEFT}
    assert result["state"] == "stopped"
    assert [line.split()[:4] for line in result["table"][1:3]] == [
        ["n2", "2", "failed", "-"],
        ["n1", "1", "done", "idle"],
    ]
    assert result["table"][2].split()[4:] == ["kexec", "61"]
    assert result["table"][3] == "rollout reimage-1 is stopped: 1 done, 1 failed. canary n2 failed"


def wave(module: Run, *nodes: str) -> Json:
    return module(rollout, state="running", name="reimage-1", wave=list(nodes), nodes=["n1", "n2", "n3"])


def test_a_wave_is_started_and_ended_in_one_task(sledd: Sledd, module: Run) -> None:
    start(module, "n1", "n2", "n3")
    first = wave(module, "n1")
    assert (first["started"], first["not_started"], first["from"]) == (["n1"], {}, {"n1": 3})
    module(rollout, state="done", name="reimage-1", node="n1")
    assert wave(module, "n2", "n3")["started"] == ["n2", "n3"]
    supervised = {"state": "done", "reason": "", "entry_method": "power", "seconds": 7.5, "image": "v2"}
    results = {"n1": "too late", "n2": supervised, "n3": "its hook failed", "n9": supervised}
    assert module(rollout, state="wave_ended", name="reimage-1", results=results)["refused"] == {}
    assert puts(sledd)[-2:] == [
        ("n2", {"state": "done", "entry_method": "power"}),
        ("n3", {"state": "failed", "reason": "its hook failed"}),
    ], "n1 has ended, and n9 is no node of it"


def test_what_keeps_one_node_of_a_wave_keeps_all(sledd: Sledd, module: Run) -> None:
    start(module, "n1", "n2", "n3")
    later = wave(module, "n2", "n3")
    reason = "the canary of rollout reimage-1 is not done: n1"
    assert (later["changed"], later["started"], later["not_started"]) == (False, [], {"n2": reason, "n3": reason})
    assert puts(sledd) == []
    checked = module(rollout, state="running", name="reimage-1", wave=["n1"], check=True)
    assert (checked["started"], checked["not_started"]) == ([], {"n1": "check mode"})
    assert "node, wave" in module(rollout, state="running", name="reimage-1")["msg"]


def test_a_node_that_cannot_be_done_has_failed(sledd: Sledd, client: Client, module: Run) -> None:
    start(module, "n1", "n2", "n3")
    wave(module, "n1")
    sledd.unsatisfied = ["n1"]
    results = {"n1": {"state": "done"}}
    ended = rollouts.end_wave(client, {"name": "reimage-1", "results": results})
    assert ended["refused"] == {"n1": "the binding of node n1 is not satisfied"}
    assert puts(sledd)[-1] == ("n1", {"state": "failed", "reason": "the binding of node n1 is not satisfied"})
    done = module(rollout, state="done", name="reimage-1", node="n1")
    assert done["msg"] == "the binding of node n1 is not satisfied"


def test_the_end_is_read_again_only_if_it_changed_something(
    client: Client, module: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(module, "n1", "n2")
    wave(module, "n1")
    options = {"name": "reimage-1", "nodes": ["n1", "n2"]}
    find = Mock(side_effect=client.find)
    monkeypatch.setattr(client, "find", find)
    assert rollouts.end(client, options)["failures"] == {"n1": rollouts.LEFT}
    assert find.call_count == 2
    assert rollouts.end(client, options)["failures"] == {"n1": rollouts.LEFT}
    assert find.call_count == 3


def test_of_many_nodes_those_that_are_done_are_counted() -> None:
    runs = [{"node": f"n{i}", "mac": "", "wave": 1, "state": "done"} for i in range(400)]
    one = {"name": "reimage-1", "state": "done", "runs": runs, "counts": {"done": 400, "failed": 0}}
    assert rollouts.table(one) == ["rollout reimage-1 is done: 400 done."]
    runs[7] |= {"state": "failed", "reason": "write: code 5"}
    one |= {"counts": {"done": 399, "failed": 1}}
    found = rollouts.table(one)
    assert [line.split()[0] for line in found] == ["node", "n7", "rollout"] and "write: code 5" in found[1]


def test_nodes_are_named_by_name_or_mac() -> None:
    names = rollouts.References(["n1", "52-54-00-77-00-0A", "n1"])
    assert names.of({"node": "n1", "mac": "52:54:00:77:00:0a"}) == ["n1", "52-54-00-77-00-0A"]
    assert names.of({"node": "N1", "mac": ""}) == []
