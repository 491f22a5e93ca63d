# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.modules import rescue
from ansible_collections.sled.fleet.tests.unit.double import Sledd

Run = Callable[..., Json]
KEYS = ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me"]
PATH = "/v1/nodes/n1/rescue"
STARTED: Json = {"authorized_keys": KEYS, "started": "2026-11-21T23:00:00Z"}
ENTERED: Json = {**STARTED, "entered": "2026-11-21T23:01:00Z", "address": "10.77.0.50"}


def changes(sledd: Sledd) -> list[str]:
    return [f"{method} {path}" for method, path, _ in sledd.asked if method != "GET" and "dry_run" not in path]


def scene(found: Json | None, phase: str = "operational") -> Json:
    return {
        "mac": "52:54:00:77:00:01",
        "name": "n1",
        "status": {"phase": phase},
        **({"rescue": found} if found else {}),
    }


def test_it_begins_once(sledd: Sledd, module: Run) -> None:
    sledd.node("n1", 1)
    assert module(rescue, node="n1", authorized_keys=KEYS, check=True)["changed"]
    assert changes(sledd) == []
    assert module(rescue, node="n1", authorized_keys=KEYS)["changed"]
    assert sledd.asked[-1] == ("PUT", PATH, {"authorized_keys": KEYS})
    sledd.scenes = [scene(STARTED)]
    assert not module(rescue, node="n1", authorized_keys=KEYS)["changed"]


def test_it_ends_once(sledd: Sledd, module: Run) -> None:
    sledd.node("n1", 1)
    assert not module(rescue, node="n1", state="absent")["changed"]
    sledd.scenes = [scene(STARTED), scene(STARTED)]
    assert module(rescue, node="n1", state="absent", check=True)["changed"]
    assert changes(sledd) == []
    assert module(rescue, node="n1", state="absent")["changed"]
    assert changes(sledd) == [f"DELETE {PATH}"]


def test_it_waits(sledd: Sledd, module: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescue, "PAUSE", 0)
    sledd.node("n1", 1)
    sledd.scenes = [scene(STARTED), scene(STARTED), scene(ENTERED, "rescue")]
    assert module(rescue, node="n1", authorized_keys=KEYS, wait=60)["rescue"]["address"] == "10.77.0.50"


@pytest.mark.parametrize(
    ("scenes", "words"),
    [
        ([scene(STARTED), scene({**ENTERED, "reason": "no dropbear"})], "failed: no dropbear"),
        ([scene(STARTED), scene(None)], "ended by somebody else"),
        (
            [scene(STARTED), scene(STARTED), scene(STARTED, "booting")],
            "waited 1 s for the SSH server of node n1: n1 has not booted the Sled system since; its phase is booting",
        ),
    ],
)
def test_it_says_why_not(
    sledd: Sledd, module: Run, monkeypatch: pytest.MonkeyPatch, scenes: list[Json], words: str
) -> None:
    monkeypatch.setattr(rescue, "PAUSE", 0.6)
    sledd.node("n1", 1)
    sledd.scenes = scenes + [scene(STARTED, "booting")] * 5
    result = module(rescue, node="n1", authorized_keys=KEYS, wait=1)
    assert result["failed"]
    assert words in result["msg"]


def test_a_node_under_rescue_that_does_not_answer_has_booted(
    sledd: Sledd, module: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rescue, "PAUSE", 0.6)
    sledd.node("n1", 1)
    sledd.scenes = [scene(STARTED, "rescue")] * 7
    result = module(rescue, node="n1", authorized_keys=KEYS, wait=1)
    assert "n1 runs the rescue system, and has not reported that the server answers" in result["msg"]
    assert "network" not in result["msg"]


def test_unknown_node_and_no_keys(sledd: Sledd, module: Run) -> None:
    assert "does not exist" in module(rescue, node="n1", authorized_keys=KEYS)["msg"]
    assert "authorized_keys" in module(rescue, node="n1")["msg"]
