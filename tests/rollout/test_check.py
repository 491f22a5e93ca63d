# SPDX-License-Identifier: Apache-2.0
"""What `reimage.yml` refuses in check mode, as in the run (terraform-provider/internal/frontends), and leaves alone."""

from __future__ import annotations

import json
from collections.abc import Callable

from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.tests.rollout.fleet import Fleet

Make = Callable[..., Fleet]


def bindings(fleet: Fleet) -> list[Json | None]:
    return [fleet.client.find("bindings", node) for node in fleet.nodes]


def test_a_check_refuses_what_the_run_refuses(fleet_of: Make) -> None:
    fleet = fleet_of(2, hooks=False)
    wrong = {
        "sled_rollout: canry: did you mean canary?": {"sled_rollout": {"canry": 1}},
        "body.batch": {"sled_rollout": {"batch": "a lot"}},
        "n1: supervise_entry_methods idel: did you mean idle?": {"supervise_entry_methods": ["idel"]},
        "n2: supervise_steps: powr: did you mean power?": {"supervise_steps": {"powr": {"timeout": 5}}},
        "n1: node_imgae is not a variable of Sled: did you mean node_image?": {"node_imgae": "v2"},
        "n2: authorized key 1 is not an SSH public key": {"sled_authorized_keys": ["garbage"]},
    }
    for text, variables in wrong.items():
        result = fleet.run("--check", "-e", json.dumps(variables))
        assert result.code == 2 and text in result.text, result.text
    assert bindings(fleet) == [None, None] and fleet.rollouts() == []


def test_the_image_of_friday_stays_on_monday(fleet_of: Make) -> None:
    fleet = fleet_of(2, hooks=False)
    changed = fleet.run("--check")
    assert changed.code == 2 and "2 nodes would change: n1, n2" in changed.text, changed.text
    fleet.settle("v2", fleet.nodes)
    before = bindings(fleet)
    monday = fleet.run("--check")
    assert monday.code == 0, monday.text
    drift = "n1, n2 are bound to image v2, as was selected, and not to node_image v1: -e on_drift=reimage takes that"
    assert drift in monday.text and "generation 1 -> 2" not in monday.text
    assert fleet.run().code == 0 and fleet.rollouts() == []
    assert bindings(fleet) == before
    asked = fleet.run("--check", "-e", "on_drift=reimage")
    assert asked.code == 2 and asked.text.count("image v2 -> v1") == 2, asked.text
