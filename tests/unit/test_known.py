# SPDX-License-Identifier: Apache-2.0
"""Misspelled variables."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import SettingsError
from ansible_collections.sled.fleet.plugins.module_utils.known import NODES, check_rollout, check_variables


def test_variables_of_others_are_no_mistakes() -> None:
    check_variables("n1", [*NODES, "node_exporter_port", "node_exporter_version", "sled_server", "supervise_verify"])
    check_rollout({"canary": 1, "batch": "25%", "max_unavailable": {}, "failure_budget": 0, "pause": 1})
    check_rollout({})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("supervise_stpes", "did you mean supervise_steps?"),
        ("supervise_qqqqqqqqqqqqqqqqqqqqqqqq", "want one of supervise_"),
        ("node_imgae", "did you mean node_image?"),
        ("node_keep_disk", "did you mean node_keep_disks?"),
        ("node_binding_disks", "did you mean node_binding_disk?"),
        ("sled_rolout", "did you mean sled_rollout?"),
        ("sled_hook_befor", "did you mean sled_hook_before?"),
        ("sled_max_wipe", "did you mean sled_max_wipes?"),
        ("sled_max_reimage", "did you mean sled_max_reimages?"),
    ],
)
def test_a_misspelled_variable_is_named_with_the_right_one(name: str, text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        check_variables("n1", ["node_mac", name])
    assert str(caught.value).startswith(f"n1: {name} is not a variable of Sled: {text}")


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        ({"canry": 1}, "sled_rollout: canry: did you mean canary?"),
        ({"failure_budgets": 0}, "sled_rollout: failure_budgets: did you mean failure_budget?"),
        ({"max_unavalable": {}}, "sled_rollout: max_unavalable: did you mean max_unavailable?"),
        ({"xyz": 0}, "sled_rollout: xyz: want one of canary, batch"),
        ("canary", "sled_rollout 'canary': want a dictionary of canary, batch"),
    ],
)
def test_a_guard_that_nobody_reads_is_an_error(terms: Any, text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        check_rollout(terms)
    assert text in str(caught.value)
