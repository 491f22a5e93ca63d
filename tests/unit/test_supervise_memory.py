# SPDX-License-Identifier: Apache-2.0
"""The core of the supervisor with nodes that run from memory: another system is on their disk."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.supervise import core
from ansible_collections.sled.fleet.plugins.module_utils.supervise.core import (
    Acted,
    Action,
    Look,
    Method,
    Policy,
    State,
    advance,
)

POLICY = Policy(verify=120, methods={"power": Method(300)}, silent={"any": 200}, confirm=200)
SAID: Json = {"reason": "its payload did not confirm by console within 300 s"}


def a_look(now: float, phase: str, since: str = "s", status: Json | None = None, **more: Any) -> Look:
    binding = {"generation": 2, "satisfied": phase == "operational", "memory": True, "image": "v1"}
    status = {"phase": phase, "generation": 2, "since": since, "boot_id": "b", **(status or {})}
    activity = "working" if phase in ("fetching", "starting") else "unknown"
    node = {"mac": "m", "name": "n1", "binding": binding, "status": status, **more}
    return Look(now, node, activity, frozenset({"power"}), power=True)


def test_what_does_not_confirm_is_started_from_the_network_once() -> None:
    state, actions = advance(State("n1"), a_look(0, "starting"), POLICY)
    state, actions = advance(state, a_look(200, "starting"), POLICY)
    assert [action.verb for action in actions] == ["network"]
    state, _ = advance(state, Acted(), POLICY)
    state, actions = advance(state, a_look(210, "starting"), POLICY)
    assert (state.stage, actions) == (core.CONFIRMING, [])
    state, actions = advance(state, a_look(410, "starting"), POLICY)
    assert [action.verb for action in actions] == ["lost", "end"]
    assert state.reason.startswith("its system did not confirm, nor after a start from the network: silent")


@pytest.mark.parametrize("phase", ["booting", "fetching", "starting"])
def test_a_node_that_restarts_by_itself_is_started_from_the_network_once(phase: str) -> None:
    state, actions = advance(State("n1"), a_look(0, "starting"), POLICY)
    state, actions = advance(state, a_look(10, phase, "t"), POLICY)
    assert [action.verb for action in actions] == ["network"]
    state, _ = advance(state, Acted(), POLICY)
    for now, (shown, since) in enumerate([(phase, "t"), ("booting", "x"), ("fetching", "y")], 20):
        state, actions = advance(state, a_look(now, shown, since), POLICY)
        assert (state.stage, actions) == (core.CONFIRMING, []), "it has not started since"
    state, _ = advance(state, a_look(30, "starting", "u"), POLICY)
    state, actions = advance(state, a_look(40, phase, "v"), POLICY)
    assert [action.verb for action in actions] == ["lost", "end"]
    assert state.reason.endswith("the node restarted before its system had confirmed")


@pytest.mark.parametrize("before", ["fetching", "starting"])
def test_a_payload_that_sledd_gave_up_is_started_from_the_network_once(before: str) -> None:
    """Sledd counts its time: the supervisor waits, however long that is."""
    state, actions = advance(State("n1"), a_look(0, before), POLICY)
    if before == "starting":
        waits = {"kind": "payload", "for": "its payload"}
        state, actions = advance(state, a_look(5000, "starting", wait=waits), POLICY)
        assert (state.stage, state.waits, actions) == (core.CONFIRMING, "waits for its payload", [])
    state, actions = advance(state, a_look(5010, "failed", "t", SAID), POLICY)
    assert [action.verb for action in actions] == ["network"]
    state, _ = advance(state, Acted(), POLICY)
    state, actions = advance(state, a_look(5020, "failed", "t", SAID), POLICY)
    assert (state.stage, actions) == (core.CONFIRMING, []), "it has not booted since"
    for now in (5030, 5150):
        state, actions = advance(state, a_look(now, "booting", "u"), POLICY)
    state, actions = advance(state, a_look(5200, "failed", "v", SAID), POLICY)
    assert [action.verb for action in actions] == ["lost", "end"]
    assert state.reason == f"its system did not confirm, nor after a start from the network: {SAID['reason']}"


def test_a_payload_is_not_verified() -> None:
    assert advance(State("n1"), a_look(0, "operational"), POLICY)[1] == [Action("end")]
    system = a_look(0, "operational", status={"os": {"boot_id": "b"}})
    assert advance(State("n1"), system, POLICY)[1] == [Action("verify")]
