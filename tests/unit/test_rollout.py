# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.sled.fleet.plugins.action import rollout
from ansible_collections.sled.fleet.plugins.module_utils import rollouts
from ansible_collections.sled.fleet.plugins.module_utils.client import ApiError, Client, Json, SledError
from ansible_collections.sled.fleet.tests.unit.double import TOKEN, Sledd

Run = Callable[..., Json]
MAC = "52:54:00:77:00:01"
TERMS: Json = {"desired": "image v2", "canary": "1"}


@pytest.fixture
def task(client: Client, sledd: Sledd) -> Run:
    """What the action does with the options of a task."""
    validator = ArgumentSpecValidator(rollout.SPEC, required_if=rollout.NEEDED)

    def run(check: bool = False, **options: Any) -> Json:
        validated = validator.validate({"server": sledd.url, "token": TOKEN, **options})
        if validated.error_messages:
            raise SledError("; ".join(validated.error_messages))
        return rollout.work(client, validated.validated_parameters, check)

    return run


def start(task: Run, *nodes: str, **options: Any) -> Json:
    return task(state="started", nodes=list(nodes), **{**TERMS, **options})


def wave(task: Run, *nodes: str, **options: Any) -> Json:
    return task(state="running", wave=list(nodes), **{"name": "reimage-1", "nodes": ["n1", "n2", "n3"], **options})


def end(task: Run, **results: Any) -> Json:
    return task(state="wave_ended", name="reimage-1", results=results)


def puts(sledd: Sledd) -> list[tuple[str, Json]]:
    items = [dict(item) for method, _, body in sledd.asked if method == "PUT" for item in body["items"]]
    return [(item.pop("node"), item) for item in items]


def test_starts_as_requested_and_returns_the_waves(sledd: Sledd, task: Run) -> None:
    result = start(
        task,
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


def test_nothing_to_do_starts_nothing(sledd: Sledd, task: Run) -> None:
    result = start(task, among=["n1", "n2"])
    assert (result["changed"], result["name"], result["waves"]) == (False, "", [])
    assert sledd.rollouts == {}


def test_check_mode_is_a_dry_run_of_sledd(sledd: Sledd, task: Run) -> None:
    assert start(task, "n1", check=True)["changed"]
    assert [path for method, path, _ in sledd.asked if method == "POST"] == ["/v1/rollouts?kind=reimage&dry_run=true"]
    assert sledd.rollouts == {}
    sledd.refuse = [422]
    with pytest.raises(SledError, match="so says the test"):
        start(task, "n1", batch="a lot", check=True)
    sledd.asked.clear()
    assert not start(task, check=True)["changed"]
    checked = wave(task, "n1", check=True)
    assert (checked["started"], checked["not_started"]) == ([], {"n1": "check mode"})
    assert sledd.asked == []


def test_a_limit_is_of_the_request(sledd: Sledd, task: Run) -> None:
    start(task, "n1", "n2", max_wipes=0, max_reimages="3")
    assert sledd.asked[-1][2] == {**TERMS, "nodes": ["n1", "n2"], "max_wipes": 0, "max_reimages": 3}
    assert start(task, "n1", among=["n1", "n2"], max_wipes=9)["waves"] == [["n1"], ["n2"]]
    assert len(sledd.rollouts) == 1, "another limit is the same rollout"


def test_nodes_that_run_from_memory_count_for_no_limit(sledd: Sledd, task: Run) -> None:
    start(task, "n1", "n2", max_wipes=0, memory=["n4", "n2"])
    assert sledd.asked[-1][2] == {**TERMS, "nodes": ["n1", "n2"], "max_wipes": 0, "memory": ["n2"]}


@pytest.mark.parametrize("check", [False, True])
def test_an_exceeded_limit_names_the_way_out(client: Client, monkeypatch: pytest.MonkeyPatch, check: bool) -> None:
    message = "nothing was changed: max_wipes is 1, but 2 nodes would be wiped: n1, n2"
    fault = {"location": "body.max_wipes", "message": message, "value": ["n1", "n2"]}
    monkeypatch.setattr(
        client, "start_rollout", Mock(side_effect=ApiError("POST", 409, {"detail": message, "errors": [fault]}))
    )
    options: Json = {"state": "started", "kind": "wipe", "desired": "an empty disk", "nodes": ["n1", "n2"]}
    asked = {
        **dict.fromkeys([*rollouts.SPEC, *rollouts.LIMITS, "wave"]),
        **options,
        "among": [],
        "memory": [],
        "max_wipes": 1,
    }
    with pytest.raises(SledError, match=f"{message}. Name fewer nodes, or allow it: -e sled_max_wipes=2$"):
        rollout.work(client, asked, check)


def test_what_is_done_is_not_done_again_on_resumption(sledd: Sledd, task: Run) -> None:
    start(task, "n1", "n2", "n3", again=True)
    sledd.rollouts["reimage-1"]["runs"][0]["state"] = "done"
    assert start(task, "n1", "n2", "n3", again=True)["waves"] == [["n2", "n3"]]
    assert len(sledd.rollouts) == 1


def test_a_node_that_was_never_ended_has_its_turn_although_its_binding_is_satisfied(sledd: Sledd, task: Run) -> None:
    start(task, "n1", "n2", "n3")
    runs = sledd.rollouts["reimage-1"]["runs"]
    runs[0]["state"], runs[1]["state"] = "done", "running"
    for nodes, asked in (([], ["n2", "n3"]), (["n3"], ["n3", "n2"])):
        assert start(task, *nodes, among=["n1", "n2", "n3"])["waves"] == [["n2", "n3"]]
        assert sledd.asked[-1][2]["nodes"] == asked
    assert start(task, among=["n1", "n2"], desired="image v3")["waves"] == [], "another text is another rollout"
    sledd.rollouts["reimage-1"]["state"] = "done"
    assert not start(task, among=["n1", "n2", "n3"])["changed"]


def test_a_node_is_started_and_ended(sledd: Sledd, task: Run) -> None:
    start(task, "n1", "n2")
    started = wave(task, "n1")
    assert (started["started"], started["changed"], started["from"]) == (["n1"], True, {"n1": 3})
    end(task, n1={"state": "done", "entry_method": "warm"})
    assert sledd.rollouts["reimage-1"]["runs"][0]["state"] == "done"
    assert puts(sledd) == [("n1", {"state": "running"}), ("n1", {"state": "done", "entry_method": "warm"})]
    with pytest.raises(SledError, match="is not one of rollout reimage-1"):
        wave(task, "n9")
    with pytest.raises(SledError, match="reimage-9 does not exist"):
        wave(task, "n1", name="reimage-9")


def test_the_canary_comes_first(sledd: Sledd, task: Run) -> None:
    start(task, "n1", "n2")
    early = wave(task, "n2")
    assert (early["started"], early["changed"]) == ([], False)
    assert early["not_started"] == {"n2": "the canary of rollout reimage-1 is not done: n1"}
    wave(task, "n1")
    end(task, n1="x" * 3000)
    assert puts(sledd)[1:] == [("n1", {"state": "failed", "reason": "x" * 2048})]
    assert wave(task, "n2")["not_started"] == {"n2": "rollout reimage-1 is stopped: canary n1 failed"}


def test_a_canary_that_nobody_runs_has_failed(sledd: Sledd, task: Run) -> None:
    start(task, "n1", "n2")
    wave(task, "n1")
    assert "canary n1 failed" in wave(task, "n2")["not_started"]["n2"]
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
    result = rollouts.start_wave(client, {"name": "reimage-1", "wave": ["n1"], "nodes": []})
    assert (result["started"], result["not_started"]) == ([], {"n1": "rollout reimage-1 is stopped"})


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

    options: Json = {"name": "reimage-1", "wave": ["n2"], "nodes": []}
    assert rollouts.start_wave(client, options, lambda: now, pause)["started"]
    assert paused == [5, 5, 2]
    assert rollouts.start_wave(client, options, lambda: 0.0, pause)["started"], "what runs already is not held up"
    assert len(paused) == 3


def test_returns_the_result(sledd: Sledd, task: Run) -> None:
    start(task, "n1", "n2")
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
    result = task(state="ended", name="reimage-1", nodes=["n1", "n2"])
    assert not result["changed"]
    assert result["failures"] == {"n2": rollouts.LEFT}
    assert result["state"] == "stopped"
    assert [line.split()[:4] for line in result["table"][1:3]] == [
        ["n2", "2", "failed", "-"],
        ["n1", "1", "done", "idle"],
    ]
    assert result["table"][2].split()[4:] == ["kexec", "61"]
    assert result["table"][3] == "rollout reimage-1 is stopped: 1 done, 1 failed. canary n2 failed"


def test_a_wave_is_started_and_ended_in_one_task(sledd: Sledd, task: Run) -> None:
    start(task, "n1", "n2", "n3")
    first = wave(task, "n1")
    assert (first["started"], first["not_started"], first["from"]) == (["n1"], {}, {"n1": 3})
    end(task, n1={"state": "done"})
    assert wave(task, "n2", "n3")["started"] == ["n2", "n3"]
    supervised = {"state": "done", "reason": "", "entry_method": "power", "seconds": 7.5, "image": "v2"}
    results = {"n1": "too late", "n2": supervised, "n3": "its hook failed", "n9": supervised}
    assert end(task, **results)["refused"] == {}
    assert puts(sledd)[-2:] == [
        ("n2", {"state": "done", "entry_method": "power"}),
        ("n3", {"state": "failed", "reason": "its hook failed"}),
    ], "n1 has ended, and n9 is no node of it"


def test_what_keeps_one_node_of_a_wave_keeps_all(sledd: Sledd, task: Run) -> None:
    start(task, "n1", "n2", "n3")
    later = wave(task, "n2", "n3")
    reason = "the canary of rollout reimage-1 is not done: n1"
    assert (later["changed"], later["started"], later["not_started"]) == (False, [], {"n2": reason, "n3": reason})
    assert puts(sledd) == []
    with pytest.raises(SledError, match="wave"):
        task(state="running", name="reimage-1")


def test_a_node_that_cannot_be_done_has_failed(sledd: Sledd, client: Client, task: Run) -> None:
    start(task, "n1", "n2", "n3")
    wave(task, "n1")
    sledd.unsatisfied = ["n1"]
    results = {"n1": {"state": "done"}}
    ended = rollouts.end_wave(client, {"name": "reimage-1", "results": results})
    assert ended["refused"] == {"n1": "the binding of node n1 is not satisfied"}
    assert puts(sledd)[-1] == ("n1", {"state": "failed", "reason": "the binding of node n1 is not satisfied"})


def test_the_end_is_read_again_only_if_it_changed_something(
    client: Client, task: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(task, "n1", "n2")
    wave(task, "n1")
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
