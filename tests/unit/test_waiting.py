# SPDX-License-Identifier: Apache-2.0
"""Whether a node has what its binding requests, what it does, and why it failed."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.waiting import ENTERED, activity, failure, judge, seen
from ansible_collections.sled.fleet.plugins.modules import node as node_module
from ansible_collections.sled.fleet.tests.unit.double import Sledd

Run = Callable[..., Json]


def test_phases_are_those_of_the_contract() -> None:
    root = Path(__file__).parents[2]
    contract = json.loads((root / "contract/openapi.json").read_text(encoding="utf-8"))
    parameters = {one["name"]: one["schema"] for one in contract["paths"]["/v1/nodes"]["get"]["parameters"]}
    assert set(ENTERED) < set(parameters["phase"]["items"]["enum"])


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
    ("node", "outcome"),
    [
        (a_node("operational", 2, 2, True), "ready"),
        (a_node("operational", 1, 2), "pending"),
        # Only sledd decides: whatever the phase is, the binding's `satisfied` counts.
        (a_node("rescue", 2, 2, True, before="operational"), "ready"),
        (a_node("rescue", 2, 2, before="writing"), "pending"),
        (a_node("wiped", 2, 2, True), "ready"),
        (a_node("wiped", 2, 2), "pending"),
        (a_node("operational", 2, 2), "pending"),
        (a_node("captured", 2, 2, True), "ready"),
        (a_node("capturing", 2, 2), "pending"),
        (a_node("unconfirmed", 2, 2, True), "ready"),
        (a_node("failed", 2, 2), "failed"),
        (a_node("failed", 1, 2), "pending"),
        (a_node("writing", 2, 2), "pending"),
        (a_node("", 0, 1), "pending"),
    ],
)
def test_judge(node: Json, outcome: str) -> None:
    assert judge(node) == outcome


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


def test_why_it_failed_and_what_it_does_instead_in_one_line() -> None:
    failed = a_node("failed", 2, 2, code=5, verb="write", reason="digest mismatch")
    assert failure(failed) == "write: code 5 integrity: digest mismatch"
    assert seen(a_node("writing", 2, 2)) == "it is writing, generation 2"
    assert seen(a_node("operational", 1, 2)) == "it is operational, generation 1 (requested 2)"
    assert seen(a_node("", 0, 1)) == "it is not seen yet, generation 0 (requested 1)"


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
