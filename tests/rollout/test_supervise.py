# SPDX-License-Identifier: Apache-2.0
"""Module supervise over fleets whose nodes fail, hang and wait, and whose sledd and controller die."""

from __future__ import annotations

import json
import random
import re
import signal
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from ansible_collections.sled.fleet.plugins.module_utils.client import ApiError, Json
from ansible_collections.sled.fleet.tests.rollout.fleet import Fleet

Make = Callable[[int], Fleet]
DEFAULTS = {"server": "{{ sled_server }}", "ca_file": "{{ sled_ca_file }}", "token_file": "{{ sled_token_file }}"}


class Wave:
    """A playbook of one task, which supervises all nodes."""

    def __init__(self, fleet: Fleet, **options: Any) -> None:
        self.fleet, self.result = fleet, fleet.folder / "result.json"
        supervise = {"nodes": "{{ ansible_play_hosts }}", **options}
        keep = {"content": "{{ wave | to_json }}", "dest": str(self.result), "mode": "0600"}
        tasks: list[Json] = [
            {"name": "Supervise", "sled.fleet.supervise": supervise, "run_once": True, "register": "wave",
             "failed_when": "wave.nodes is not defined"},
            {"name": "Keep", "ansible.builtin.copy": keep, "run_once": True, "delegate_to": "localhost",
             "check_mode": False, "diff": False},
        ]  # fmt: skip
        play = {"name": "Wave", "hosts": "nodes", "gather_facts": False, "tasks": tasks}
        play["module_defaults"] = {"group/sled.fleet.api": DEFAULTS}
        self.playbook = fleet.folder / "wave.yml"
        self.playbook.write_text(yaml.safe_dump([play]))

    def run(self, *extra: str) -> tuple[Json, str]:
        """Runs it to its end; returns the nodes of the result, and what was printed."""
        result = self.fleet.run(*extra, playbook=self.playbook)
        assert result.code == 0, result.text
        nodes: Json = json.loads(self.result.read_text())["nodes"]
        return nodes, result.text


def bind(fleet: Fleet, image: str, revisions: dict[str, int] | None = None) -> None:
    for node in fleet.nodes:
        fleet.client.put("bindings", node, {"node": node, "image": image}, (revisions or {}).get(node, 0))


def test_each_node_by_the_method_that_works(fleet_of: Make) -> None:
    fleet = fleet_of(6)
    fleet.settle("v1", ["n1"])
    for node in fleet.nodes[1:]:
        fleet.client.put("bindings", node, {"node": node, "image": "v2"}, 0)
    fleet.set("n2", fail={"step": "write", "code": 5, "times": 9, "reason": "digest mismatch"})
    fleet.set("n3", hang_at_kexec=1)
    fleet.set("n4", fail={"step": "write", "code": 6, "times": 1, "reason": "no answer"})
    before = fleet.marks()

    wave = Wave(fleet, steps={"confirm": {"timeout": 30}})
    planned, text = wave.run("--check", "--diff")
    assert fleet.marks() == before, "check mode changed something"
    assert (planned["n1"]["state"], planned["n1"]["changed"]) == ("done", False)
    assert planned["n2"]["wipes"] == "disk serial:n2 (wipe: empty)"
    assert "+wipes disk serial:n2 (wipe: empty)" in text and "serial:n1" not in text

    nodes, text = wave.run()
    states = {name: (one["state"], one["entry_method"], one["changed"]) for name, one in nodes.items()}
    assert states.pop("n1") == ("done", "", False) and fleet.marks()["n1"] == before["n1"]
    assert states.pop("n2") == ("failed", "power", True)
    assert states == dict.fromkeys(["n3", "n4", "n5", "n6"], ("done", "power", True))
    assert nodes["n2"]["reason"] == "write: code 5 integrity: digest mismatch"
    assert nodes["n3"]["fallback"] and not nodes["n5"]["fallback"]
    assert fleet.writes("n2") == {1: 1}, "code 5 is never tried again"
    assert fleet.writes("n4") == {1: 2}, "code 6 is"
    assert fleet.entries("n5") == ["power"]
    assert "n2: failed: write: code 5" in text
    assert re.search("n3: is started from its disk: silent 3[0-9] of 30 s, because phase is starting", text), text

    fleet.power("n5", "off")
    off, _ = wave.run("-e", '{"supervise_steps": {"verify": {"timeout": 2}}}')
    assert off["n5"]["reason"].startswith("no SSH at 127.78.0.4 within"), "its system is verified"
    again, _ = wave.run("-e", "supervise_verify=none")
    assert again["n5"]["state"] == "done" and not again["n5"]["changed"], "its binding is satisfied"
    assert fleet.writes("n3") == {1: 1}


def test_sledd_and_the_controller_die(fleet_of: Make, chance: random.Random) -> None:
    fleet = fleet_of(6)
    bind(fleet, "v2")
    fleet.power("n1", "on")  # it waits, and begins by itself
    wave = Wave(fleet)
    moments = sorted(chance.sample(range(1, 6), 2))
    playbook = fleet.play(playbook=wave.playbook)
    fleet.reach(playbook, lambda: fleet.written() >= moments[0])
    fleet.kill_sledd()
    fleet.start_sledd()
    fleet.interrupt(playbook, chance.choice([signal.SIGKILL, signal.SIGINT]), lambda: fleet.written() >= moments[1])
    nodes, _ = wave.run()
    assert {name: one["state"] for name, one in nodes.items()} == dict.fromkeys(fleet.nodes, "done")
    assert [fleet.writes(node) for node in fleet.nodes] == [{1: 1}] * 6, "written once"


def test_a_machine_that_changes_hands_is_reset(fleet_of: Make) -> None:
    """Neither the system that runs on it nor one that waits gets the plan of its next owner; each is reset first."""
    fleet = fleet_of(3)
    fleet.settle("v1", ["n1", "n2"])
    for node in fleet.nodes:
        stored = fleet.client.find("bindings", node) or {}
        wanted = {"node": node, "image": "v2", "handover": node != "n2"}
        fleet.client.put("bindings", node, wanted, stored.get("revision", 0))
    with pytest.raises(ApiError, match="changes hands"):
        fleet.client.boot("n1")
    nodes, text = Wave(fleet).run()
    assert {node: one["state"] for node, one in nodes.items()} == dict.fromkeys(fleet.nodes, "done"), text
    assert [fleet.entries(node)[-1:] for node in ("n1", "n3")] == [["power"], ["power"]]
    assert len(fleet.entries("n3")) == 1, "nothing else was tried"
