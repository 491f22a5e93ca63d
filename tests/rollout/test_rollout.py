# SPDX-License-Identifier: Apache-2.0
"""The reimage playbook on fleets where nodes fail, and where its run is interrupted."""

from __future__ import annotations

import collections
import itertools
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable

import pytest
import yaml
from ansible_collections.sled.fleet.tests.rollout.fleet import BIN, PATIENCE, TOKEN, Fleet, most_at_once, wait_for

Make = Callable[[int], Fleet]


def phases(fleet: Fleet) -> dict[str, str]:
    return {node: fleet.node(node)["status"]["phase"] for node in fleet.nodes}


def is_in_service(fleet: Fleet, node: str, image: str, generation: int) -> None:
    """What a node must be after a run: its binding satisfied, and itself the same as before."""
    found = fleet.node(node)
    status = found["status"]
    assert (status["phase"], status["generation"], found["binding"]["image"]) == ("operational", generation, image), (
        node
    )
    assert found["binding"]["satisfied"] and found["binding"]["generation"] == generation
    assert (found["name"], found["mac"], found["labels"]) == (node, fleet.macs[node], {"rack": fleet.racks[node]})


def test_canary_fails(fleet_of: Make) -> None:
    fleet = fleet_of(8)
    fleet.settle("v1", fleet.nodes)
    fleet.set("n1", fail={"step": "write", "code": 5, "times": 9, "reason": "digest mismatch"})
    before = fleet.marks()
    result = fleet.run("-e", "image=v2", rollout={"canary": "1", "batch": "50%", "failure_budget": "25%"})
    assert result.code != 0 and "digest mismatch" in result.text, result.text
    after = fleet.marks()
    assert after.pop("n1") > before.pop("n1")
    assert after == before, "the canary failed, and another node was touched"
    assert fleet.writes("n1") == {1: 1, 2: 1}, "code 5 is never tried again"
    assert {node for _, _, node in fleet.hooked()} == {"n1"}
    (rollout,) = fleet.rollouts()
    assert rollout["state"] == "stopped" and "n1" in rollout["reason"]
    assert rollout["counts"] == {"waiting": 7, "running": 0, "done": 0, "failed": 1}


def test_budget_is_exceeded(fleet_of: Make) -> None:
    fleet = fleet_of(8)
    fleet.settle("v1", fleet.nodes)
    for node in ("n1", "n2", "n3"):
        fleet.set(node, fail={"step": "wipe", "code": 3, "times": 9, "reason": f"{node} cannot"})
    fleet.set("n4", step_seconds=1.0)  # runs still when n3 has failed
    before = fleet.marks()
    result = fleet.run("-e", "image=v2", rollout={"batch": "2", "failure_budget": "25%"})
    assert result.code != 0
    assert [phases(fleet)[node] for node in ("n1", "n2", "n3")] == ["failed"] * 3
    is_in_service(fleet, "n4", "v2", 2)
    after = fleet.marks()
    for node in ("n5", "n6", "n7", "n8"):
        assert after[node] == before[node], f"the budget was exceeded in the second wave, and {node} was touched"
    (rollout,) = fleet.rollouts()
    assert rollout["state"] == "stopped"
    assert rollout["counts"] == {"waiting": 4, "running": 0, "done": 1, "failed": 3}


def test_hooks_fail(fleet_of: Make) -> None:
    fleet = fleet_of(3)
    for when, node in (("before", "n2"), ("after", "n3")):
        condition = f"inventory_hostname == '{node}'"
        task = {"name": "Refuse", "ansible.builtin.fail": {"msg": f"{when} {node}: no quorum"}, "when": condition}
        hook = fleet.folder / f"{when}.yml"
        hook.write_text(yaml.safe_dump([*yaml.safe_load(hook.read_text()), task]))
    result = fleet.run("-e", "image=v2", rollout={"failure_budget": "100%"})
    assert result.code != 0 and "before n2: no quorum" in result.text and "after n3: no quorum" in result.text
    is_in_service(fleet, "n1", "v2", 1)
    is_in_service(fleet, "n3", "v2", 1)
    assert not fleet.node("n2").get("binding") and fleet.marks()["n2"] < fleet.marks()["n1"], "n2 was touched"
    (rollout,) = fleet.rollouts()
    assert (rollout["state"], rollout["counts"]) == ("done", {"waiting": 0, "running": 0, "done": 1, "failed": 2})
    assert sorted((kind, node) for _, kind, node in fleet.hooked()) == [
        *(("after", node) for node in ("n1", "n3")),
        *(("before", node) for node in fleet.nodes),
    ]


def test_systems_are_verified_over_ssh(fleet_of: Make) -> None:
    """The host key must be the one that the node has reported. Nodes that are up to date are verified, too."""
    fleet = fleet_of(4)
    fleet.settle("v1", ["n4"])
    fleet.set("n2", ssh_fault="key")
    fleet.set("n3", ssh_fault="image")
    result = fleet.run(rollout={"failure_budget": "100%"})
    assert result.code != 0
    reasons = {run["node"]: run.get("reason", "") for run in fleet.client.find("rollouts", "reimage-1")["runs"]}  # type: ignore[index]
    assert sorted(reasons) == ["n1", "n2", "n3"] and reasons["n1"] == ""
    assert reasons["n2"] == "its system cannot be verified over SSH: Host key verification failed. (code 255)"
    assert "its system answers ['n3', " in reasons["n3"] and "'name=another']; requested are n3" in reasons["n3"]
    assert [node for _, kind, node in fleet.hooked() if kind == "after"] == ["n1"]

    fleet.set("n4", ssh_fault="silent")
    fleet.power("n4", "cycle")
    result = fleet.run("--limit", "n1,n4", "-e", '{"supervise_steps": {"verify": {"timeout": 5}}}')
    assert result.code != 0 and len(fleet.rollouts()) == 1, result.text
    assert (
        "n4: failed: no SSH at 127.78.0.3 within 5 s" in result.text and "n1: its binding is satisfied" in result.text
    )


@pytest.mark.parametrize(
    ("count", "how", "again"),
    [
        pytest.param(8, signal.SIGINT, False, marks=pytest.mark.long),
        (4, signal.SIGKILL, False),
        pytest.param(4, signal.SIGINT, True, marks=pytest.mark.long),
    ],
)
def test_interrupted(fleet_of: Make, chance: random.Random, count: int, how: signal.Signals, again: bool) -> None:
    """Half of the nodes run the old image, half wait in the Sled system; no more than one of a rack may be away."""
    fleet = fleet_of(count)
    settled = fleet.nodes if again else fleet.nodes[: count // 2]
    fleet.settle("v1", settled)
    for node in fleet.nodes[len(settled) :]:
        fleet.power(node, "on")
    before = fleet.written()
    target = {node: 2 if node in settled else 1 for node in fleet.nodes}
    arguments = ["-e", "image=v1", "-e", "again=true"] if again else ["-e", "image=v2"]
    terms = {"batch": "100%", "max_unavailable": {"rack": 1}}

    moment = before + chance.randrange(1, count)
    fleet.interrupt(fleet.play(*arguments, rollout=terms), how, lambda: fleet.written() >= moment)
    result = fleet.run(*arguments, rollout=terms)
    assert result.code == 0, result.text
    for node in fleet.nodes:
        is_in_service(fleet, node, "v1" if again else "v2", target[node])
        assert fleet.writes(node) == dict.fromkeys(range(1, target[node] + 1), 1), (
            f"{node} was not written once a generation"
        )
    racks = collections.defaultdict(list)
    for node in fleet.nodes:
        racks[fleet.racks[node]].append(fleet.away(node, target[node]))
    assert {rack: most_at_once(spans) for rack, spans in racks.items()} == dict.fromkeys(racks, 1)
    hooks_held(fleet, target)
    (rollout,) = fleet.rollouts()
    assert (rollout["state"], rollout["resumed"]) == ("done", 1)

    marks = fleet.marks()
    repeated = fleet.run(*arguments[:2], rollout=terms)
    assert (repeated.code, repeated.changed()) == (0, 0), repeated.text
    assert fleet.marks() == marks and len(fleet.rollouts()) == 1


def every_view(fleet: Fleet, name: str) -> dict[str, str]:
    """What list, get, watch and report of sledctl print of a rollout, and what the API returns."""
    environment = os.environ | {"SLED_SERVER": fleet.url, "SLED_TOKEN": TOKEN, "SLED_CA": str(fleet.folder / "ca.crt")}
    views = {}
    for line in ("list", f"get {name}", f"watch {name} --timeout 1s", f"report {name}"):
        command = [str(BIN / "sledctl"), "rollout", *line.split()]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)
        views[line] = ran.stdout + ran.stderr
    (listed,) = fleet.rollouts()
    return views | {"API": "nobody follows it for" if listed.get("silent") else listed["state"]}


@pytest.mark.long
def test_killed_and_followed_by_nobody(fleet_of: Make, chance: random.Random) -> None:
    """A minute after a kill -9, everything says that nobody follows the rollout. The same command ends that."""
    fleet = fleet_of(4)
    moment = chance.randrange(1, 4)
    arguments = ["-e", "image=v1"]
    fleet.set(None, server=fleet.url, ca=str(fleet.folder / "ca.crt"), step_seconds=2, boot_seconds=1)
    playbook = fleet.play(*arguments, rollout={"batch": "1"})
    fleet.reach(playbook, lambda: fleet.written() >= moment)
    (rollout,) = fleet.rollouts()
    followed = every_view(fleet, rollout["name"])
    assert not [view for view, text in followed.items() if "nobody follows" in text], followed
    os.killpg(playbook.pid, signal.SIGKILL)
    killed = time.monotonic()
    playbook.wait(PATIENCE)
    wait_for("the rollout to be silent", lambda: "silent" in fleet.rollouts()[0])
    print(f"silent {time.monotonic() - killed:.1f} s after the kill")
    silent = every_view(fleet, rollout["name"])
    assert not [view for view, text in silent.items() if "nobody follows it for" not in text], silent

    again = fleet.play(*arguments, rollout={"batch": "1"})
    fleet.reach(again, lambda: "silent" not in fleet.rollouts()[0])
    followed = every_view(fleet, rollout["name"])
    assert not [view for view, text in followed.items() if "nobody follows" in text], followed
    assert again.wait(PATIENCE) == 0
    (rollout,) = fleet.rollouts()
    assert (rollout["state"], rollout["resumed"]) == ("done", 1)
    assert [fleet.writes(node) for node in fleet.nodes] == [{1: 1}] * 4


def hooks_held(fleet: Fleet, target: dict[str, int]) -> None:
    """The hook before a node ran before each attempt; the one after ran once, when the node was in service."""
    hooked = sorted(fleet.hooked(), key=lambda entry: entry[2])
    for node, entries in itertools.groupby(hooked, key=lambda entry: entry[2]):
        times = collections.defaultdict(list)
        for when, kind, _ in entries:
            times[kind].append(when)
        begin, end = fleet.away(node, target[node])
        assert min(times["before"]) < begin and len(times["after"]) == 1 and times["after"][0] > end, (
            node,
            times,
            begin,
            end,
        )
    assert {node for _, _, node in hooked} == set(fleet.nodes)
