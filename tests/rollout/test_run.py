# SPDX-License-Identifier: Apache-2.0
"""run.yml with a payload of kind kernel, which has the machine until its power is cycled."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.sled.fleet.tests.rollout.fleet import Fleet, wait_for

OFF, WAITS, RUNS = "n1", "n2", "n3"
CODE = 7


def file(fleet: Fleet, node: str, extension: str) -> Path:
    return fleet.doubles / f"{fleet.macs[node].replace(':', '-')}.{extension}"


def waits(fleet: Fleet, node: str) -> bool:
    status = fleet.node(node)["status"]
    return bool(status.get("phase") == "idle" and not status.get("run", {}).get("payload"))


def starts_its_disk(fleet: Fleet, began: int) -> bool:
    return "runs its disk" in file(fleet, RUNS, "log").read_text()[began:]


@pytest.mark.long
def test_a_payload_of_kind_kernel(fleet_of: Callable[..., Fleet]) -> None:
    fleet = fleet_of(3, hooks=False)
    for node in fleet.nodes:
        fleet.set(node, payload={"exit": CODE})
    fleet.settle("v1", [RUNS])
    fleet.power(WAITS, "on")
    wait_for(f"{WAITS} to wait", functools.partial(waits, fleet, WAITS))
    image = {
        "name": "memtest",
        "kind": "kernel",
        "digest": f"sha256:{1:064x}",
        "urls": ["http://127.0.0.1/memtest"],
        "payload": {"format": "linux", "confirm": "http"},
        "bytes": 1 << 20,
        "file_bytes": 1 << 20,
    }
    fleet.client.put("images", "memtest", image, 0)
    before, disk = fleet.node(RUNS), file(fleet, RUNS, "disk").read_text()
    began = len(file(fleet, RUNS, "log").read_text())

    folder = fleet.folder / "run"
    wanted = {"run_image": "memtest", "run_interrupt": True, "run_dest": str(folder), "unclean": True}
    result = fleet.run("-e", json.dumps(wanted), playbook="playbooks/run.yml")

    assert result.code == 0, result.text
    jobs = json.loads((folder / "run.json").read_text())
    assert [(job["node"], job["state"], job["exit"]) for job in jobs] == [(n, "done", CODE) for n in fleet.nodes]
    assert fleet.power(OFF, "status") == "off"
    wait_for(f"{WAITS} to wait again", functools.partial(waits, fleet, WAITS))
    wait_for(f"{RUNS} to run its disk again", functools.partial(starts_its_disk, fleet, began))
    after = fleet.node(RUNS)
    assert after["status"]["phase"] == "operational" and "job" not in after, after
    assert (after["binding"]["generation"], after["binding"]["satisfied"]) == (before["binding"]["generation"], True)
    assert file(fleet, RUNS, "disk").read_text() == disk
    assert [file(fleet, node, "ran").read_text() for node in fleet.nodes] == ["kernel\n"] * 3, "each starts once"
