# SPDX-License-Identifier: Apache-2.0
"""The waves of a rollout in one task, against a double of sledd and of those who follow nodes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.rollouts import end_nodes
from ansible_collections.sled.fleet.plugins.module_utils.supervise.ends import Ends
from ansible_collections.sled.fleet.plugins.module_utils.supervise.runtime import PlaybookEnded
from ansible_collections.sled.fleet.plugins.module_utils.supervise.settings import Get, Settings
from ansible_collections.sled.fleet.plugins.module_utils.waves import carry_out
from ansible_collections.sled.fleet.tests.unit.double import Sledd

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
SITE: Json = {"node_image": "v1", "sled_authorized_keys": [KEY], "supervise_entry_methods": ["idle"]}
OPTIONS: Json = {
    "rollout": "reimage-1",
    "waves": [["n1"], ["n2", "n3"]],
    "started": {},
    "empty": False,
    "reimage": False,
}


class FakeSupervisor:
    """Follows nodes as the test says: what becomes of each, else done."""

    def __init__(self, **ends: str) -> None:
        self.ends, self.followed, self.said = ends, list[list[str]](), list[str]()
        self.client: Client | None = None  # by which it reports ends at once
        self.trouble: SledError | None = None

    def check(self) -> None:
        if isinstance(self.trouble, PlaybookEnded):
            raise self.trouble

    def pause(self, seconds: float) -> None:
        raise AssertionError("no pause was asked for")

    def follow(self, nodes: list[Settings], spare: Iterator[str] | None = None) -> dict[str, Json]:
        assert all(one.rollout == "reimage-1" for one in nodes)
        self.followed.append([one.name for one in nodes])
        next(spare or iter(()), None)
        if self.trouble:
            raise self.trouble
        outcomes: dict[str, Json] = {}
        for node in nodes:
            reason = self.ends.get(node.name, "")
            outcomes[node.name] = {"state": "failed" if reason else "done", "reason": reason, "entry_method": "idle"}
        if self.client:
            end_nodes(self.client, "reimage-1", {name: one for name, one in outcomes.items() if name != "n3"})
        return outcomes

    def reported(self) -> set[str]:
        return {"n1", "n2"} if self.client else set()

    def say(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture
def rollout(sledd: Sledd, client: Client) -> Json:
    """Of nodes n1, which is the canary, n2 and n3."""
    for number in (1, 2, 3):
        sledd.node(f"n{number}", number)
    client.start_rollout({"desired": "image v1", "canary": "1", "nodes": ["n1", "n2", "n3"]}, "reimage")
    return sledd.rollouts["reimage-1"]


def states(rollout: Json) -> list[str]:
    return [run["state"] for run in rollout["runs"]]


def go(client: Client, supervisor: FakeSupervisor, **variables: Any) -> Json:
    return carry_out(client, OPTIONS, lambda name: {**SITE, **variables.get(name, {})}.get, supervisor)


def test_one_wave_after_the_other(sledd: Sledd, client: Client, rollout: Json) -> None:
    supervisor = FakeSupervisor()
    assert go(client, supervisor) == {"changed": True, "results": {}}
    assert (supervisor.followed, supervisor.said, states(rollout)) == ([["n1"], ["n2", "n3"]], [], ["done"] * 3)
    assert sorted(sledd.objects["bindings"]) == ["n1", "n2", "n3"]


def test_nodes_of_the_next_wave_are_read_ahead(client: Client, rollout: Json) -> None:
    read: list[str] = []

    def variables(name: str) -> Get:
        read.append(name)
        assert supervisor.followed or name == "n1", "the first wave waits for no other"
        return SITE.get

    supervisor = FakeSupervisor()
    carry_out(client, OPTIONS, variables, supervisor)
    assert read == ["n1", "n2", "n3"], "each is read once"


def test_an_error_that_was_read_ahead_is_that_of_its_node(sledd: Sledd, client: Client, rollout: Json) -> None:
    supervisor = FakeSupervisor()
    go(client, supervisor, n2={"supervise_entry_methods": ["telepathy"]})
    assert supervisor.followed == [["n1"], ["n3"]]
    assert states(rollout) == ["done", "failed", "done"]
    assert "n2" not in sledd.objects["bindings"], "a node that cannot be followed is not bound"
    assert "n2: supervise_entry_methods telepathy" in rollout["runs"][1]["reason"]


def test_a_template_that_fails_ahead_disturbs_no_node_that_runs(client: Client, rollout: Json) -> None:
    def variables(name: str) -> Get:
        if name == "n2":
            raise KeyError("a password that is not defined")
        return SITE.get

    supervisor = FakeSupervisor()
    with pytest.raises(KeyError, match="a password"):
        carry_out(client, OPTIONS, variables, supervisor)
    assert supervisor.followed == [["n1"]]
    assert states(rollout)[0] == "done"


def test_ends_are_reported_once(sledd: Sledd, client: Client, rollout: Json) -> None:
    supervisor = FakeSupervisor(n2="write: code 5")
    supervisor.client = client
    go(client, supervisor)
    ends = [one for _, path, body in sledd.asked if path.endswith("/runs") for one in body["items"]]
    assert sorted((one["node"], one["state"]) for one in ends if one["state"] != "running") == [
        ("n1", "done"),
        ("n2", "failed"),
        ("n3", "done"),
    ]


def test_the_failure_of_a_canary_stops_it(sledd: Sledd, client: Client, rollout: Json) -> None:
    supervisor = FakeSupervisor(n1="write: code 5")
    assert go(client, supervisor)["changed"]
    assert supervisor.followed == [["n1"]] and list(sledd.objects["bindings"]) == ["n1"]
    assert supervisor.said == ["n2, n3 are not touched: rollout reimage-1 is stopped: canary n1 failed"]
    assert not go(client, FakeSupervisor())["changed"]


def test_a_node_that_cannot_be_bound_has_failed(client: Client, rollout: Json) -> None:
    supervisor = FakeSupervisor()
    go(client, supervisor, n2={"node_image": "bad"})
    assert supervisor.followed == [["n1"], ["n3"]]
    assert (states(rollout), rollout["runs"][1]["reason"]) == (["done", "failed", "done"], "image bad does not exist")


def test_all_have_failed_if_they_cannot_be_followed(client: Client, rollout: Json) -> None:
    supervisor = FakeSupervisor()
    supervisor.trouble = SledError("no threads are left")
    go(client, supervisor)
    assert (states(rollout), rollout["runs"][0]["reason"]) == (["failed", "waiting", "waiting"], "no threads are left")


def test_nothing_is_reported_for_a_playbook_that_has_ended(client: Client, rollout: Json) -> None:
    """The same command again follows the node, which runs."""
    supervisor = FakeSupervisor()
    follow = supervisor.follow

    def ended(nodes: list[Settings], spare: Iterator[str] | None = None) -> dict[str, Json]:
        supervisor.trouble = PlaybookEnded("the playbook that supervises has ended")
        return follow(nodes, spare)

    supervisor.follow = ended  # type: ignore[method-assign]
    with pytest.raises(PlaybookEnded):
        go(client, supervisor)
    assert states(rollout) == ["running", "waiting", "waiting"]
    with pytest.raises(PlaybookEnded):
        go(client, supervisor)
    assert len(supervisor.followed) == 1, "nor is a node started"


def test_between_hooks_it_only_binds_and_follows(client: Client, rollout: Json) -> None:
    """The playbook has started the nodes, and reports their ends after its hooks."""
    options = {**OPTIONS, "waves": [], "started": {"n1": 0, "n2": 0, "n3": 0}}
    variables = {"n3": {**SITE, "node_image": "bad"}}
    result = carry_out(
        client, options, lambda name: variables.get(name, SITE).get, supervisor := FakeSupervisor(n2="write: code 5")
    )
    assert result["results"] == {
        "n1": {"state": "done", "reason": "", "entry_method": "idle"},
        "n2": {"state": "failed", "reason": "write: code 5", "entry_method": "idle"},
        "n3": "image bad does not exist",
    }
    assert (supervisor.followed, states(rollout)) == ([["n1", "n2"]], ["waiting"] * 3)


def test_ends_that_wait_go_together(sledd: Sledd, client: Client, rollout: Json) -> None:
    ends = Ends(client)
    ends._turn.acquire()  # a request is under way
    pool = [ends_in_thread(ends, node) for node in ("n1", "n2")]
    while len(ends._waiting) < 2:
        pass
    sledd.asked.clear()
    ends._turn.release()
    for thread in pool:
        thread.join(60)
    assert [sorted(item["node"] for item in body["items"]) for _, _, body in sledd.asked] == [["n1", "n2"]]
    sledd.unsatisfied = ["n3"]
    assert ends.report("reimage-1", "n3", {"state": "done"}) == "the binding of node n3 is not satisfied"
    sledd.refuse = [503]
    assert "503" in ends.report("reimage-1", "n3", {"state": "done"})


def ends_in_thread(ends: Ends, node: str) -> threading.Thread:
    """Reports an end in another thread."""
    thread = threading.Thread(target=ends.report, args=("reimage-1", node, {"state": "done"}))
    thread.start()
    return thread
