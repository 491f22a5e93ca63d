# SPDX-License-Identifier: Apache-2.0
"""reimage.yml with images that run from memory: what is on the disks is another system, and stays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import yaml
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.tests.rollout.fleet import Fleet, wait_for

NODES, SILENT, BROKEN = 40, "n7", "n8"


def declare(fleet: Fleet) -> dict[str, str]:
    """Images that run from memory; returns which one each node gets. That of the silent node has 10 s."""
    kernel = {"format": "multiboot", "confirm": "http"}
    images: dict[str, Json] = {
        "root": {"kind": "root"},
        "own": {"kind": "kernel", "payload": kernel},
        "mute": {"kind": "kernel", "payload": {**kernel, "timeout": 10}},
    }
    for number, (name, rest) in enumerate(images.items()):
        spec = {"name": name, "digest": f"sha256:{number + 1:064x}", "urls": [f"http://127.0.0.1/{name}"], **rest}
        fleet.client.put("images", name, {**spec, "bytes": 1 << 20, "file_bytes": 1 << 20}, 0)
    return {node: "root" if i % 2 else "own" for i, node in enumerate(fleet.nodes)} | {SILENT: "mute"}


def disks(fleet: Fleet) -> dict[str, str]:
    """What is on the disk of each double."""
    return {node: file(fleet, node, "disk").read_text() for node in fleet.nodes}


def file(fleet: Fleet, node: str, extension: str) -> Path:
    return fleet.doubles / f"{fleet.macs[node].replace(':', '-')}.{extension}"


def test_a_wave_that_runs_from_memory(fleet_of: Callable[..., Fleet]) -> None:
    fleet = fleet_of(NODES, hooks=False)
    fleet.settle("v1", fleet.nodes)
    before, chosen = disks(fleet), declare(fleet)
    began = {node: len(file(fleet, node, "log").read_text()) for node in fleet.nodes}
    hosts = fleet.folder / "hosts.yml"
    inventory = yaml.safe_load(hosts.read_text())
    for node, image in chosen.items():
        inventory["all"]["children"]["nodes"]["hosts"][node]["node_image"] = image
    inventory["all"]["vars"]["sled_max_wipes"] = 0
    hosts.write_text(yaml.safe_dump(inventory))
    fleet.set(SILENT, hang_at_kexec=99)
    fleet.set(BROKEN, fail={"step": "fetch", "code": 5, "times": 99, "reason": "digest mismatch"})

    result = fleet.run("-e", "on_drift=reimage", rollout={"batch": "50%", "failure_budget": "2"})

    rollout = fleet.rollouts()[0]
    assert (rollout["state"], rollout["counts"]["done"], rollout["counts"]["failed"]) == ("done", NODES - 2, 2), (
        result.text
    )
    assert result.code != 0 and "and their disks are left as they are" in result.flat, result.text
    wants = "did not confirm, nor after a start from the network: its payload did not confirm by http within 10 s"
    assert wants in result.flat and "fetch: code 5 integrity: digest mismatch" in result.flat, result.text
    fallbacks = {node: [e["detail"] for e in fleet.events(node) if e["kind"] == "fallback"] for node in fleet.nodes}
    assert [node for node in fleet.nodes if fallbacks[node]] == [SILENT]
    assert len(fallbacks[SILENT]) == 1 and "started from the network" in fallbacks[SILENT][0]
    for node in fleet.nodes:
        if node not in (SILENT, BROKEN):
            assert fleet.is_operational(node), fleet.node(node)
    for node in ("n1", "n2"):
        run = fleet.node(node)["status"]["run"]["number"]
        fleet.power(node, "cycle")
        wait_for(f"{node} to start again", functools.partial(again, fleet, node, run))
    for node in fleet.nodes:
        log = file(fleet, node, "log").read_text()[began[node] :]
        assert "starts its disk" not in log, log
    assert disks(fleet) == before


def again(fleet: Fleet, node: str, run: int) -> bool:
    status = fleet.node(node)["status"]
    return bool(status["phase"] == "operational" and status["run"]["number"] > run)
