# SPDX-License-Identifier: Apache-2.0
"""Nodes that nothing switches off and on.

One hears a packet, one has only a person, one hears none and is left to that person.
"""

from __future__ import annotations

import functools
import json
import socket
from collections.abc import Callable

from ansible_collections.sled.fleet.plugins.module_utils.power.wol import magic
from ansible_collections.sled.fleet.tests.rollout.fleet import PATIENCE, Fleet, wait_for

METHODS = {"supervise_entry_methods": ["idle", "warm", "power", "wol", "manual"]}


def waker(port: int) -> dict[str, object]:
    """A control that can only wake, by packets to there."""
    return {**METHODS, "power_driver": "wol", "power_address": "127.0.0.1", "power_port": port}


def calls(fleet: Fleet, ear: socket.socket) -> str:
    """Waits for a packet; returns whom it wakes."""
    ear.settimeout(PATIENCE)
    packet = ear.recv(2048)
    return next(node for node in fleet.nodes if packet == magic(fleet.macs[node]))


def waits_for_a_person(fleet: Fleet, node: str) -> bool:
    text = f"{node} ({fleet.macs[node]}): start it from the network, by hand"
    return fleet.entries(node)[-1:] == ["manual"] and text in (fleet.folder / "playbook.log").read_text(
        encoding="utf-8"
    )


def test_a_packet_or_a_person(fleet_of: Callable[..., Fleet]) -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ear,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as deaf,
    ):
        for one in (ear, deaf):
            one.bind(("127.0.0.1", 0))
        impatient = {"supervise_steps": {"wol": {"timeout": 1}}}
        fleet = fleet_of(
            3,
            own={"n1": waker(ear.getsockname()[1]), "n2": METHODS, "n3": {**waker(deaf.getsockname()[1]), **impatient}},
        )
        playbook = fleet.play()
        assert calls(fleet, ear) == "n1"
        fleet.power("n1", "on")
        for node in ("n2", "n3"):
            wait_for(f"{node} to be left to a person", functools.partial(waits_for_a_person, fleet, node))
            assert fleet.node(node)["status"].get("phase", "") == "", "nobody has started it"
            fleet.power(node, "on")
        log = fleet.folder / "playbook.log"
        assert playbook.wait(PATIENCE) == 0, log.read_text(encoding="utf-8")
        assert calls(fleet, deaf) == "n3"

    assert [fleet.node(node)["status"]["phase"] for node in fleet.nodes] == ["operational"] * 3
    assert fleet.entries("n1") == ["wol"]
    assert fleet.entries("n2") == ["manual"]
    first, failed, last = fleet.entries("n3")
    assert (first, last) == ("wol", "manual") and failed.startswith("wol failed: ")
    (report,) = (fleet.folder / "reports").glob("*.json")
    written = json.loads(report.read_text(encoding="utf-8"))
    assert {entry["node"]: entry["entry_method"] for entry in written["nodes"]} == {
        "n1": "wol",
        "n2": "manual",
        "n3": "manual",
    }
