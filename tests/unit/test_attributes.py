# SPDX-License-Identifier: Apache-2.0
"""Every attribute of a binding in the API is an option of the module and reachable from playbooks and inventory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from ansible_collections.sled.fleet.plugins.module_utils.objects import BINDING
from ansible_collections.sled.fleet.plugins.module_utils.words import BINDING_VARIABLES
from ansible_collections.sled.fleet.plugins.modules import binding

ROOT = Path(__file__).parents[2]
API = json.loads((ROOT / "contract/openapi.json").read_text(encoding="utf-8"))["components"]["schemas"]["BindingSpec"]
ATTRIBUTES = sorted(set(API["properties"]) - {"$schema", "node"})
# node_disk and node_admission are what the node declares
VARIABLES = {"disk": "node_binding_disk", "admission": "node_binding_admission"}
COMMAND_LINE = {"image", "wipe", "wipe_method", "mode", "verify", "transport", "boot"}
COMMAND_LINE |= {"allow_unsigned", "admission", "handover", "seed_changes"}


def test_the_api_has_attributes() -> None:
    assert {"image", "capture", "user_data", "owner"} < set(ATTRIBUTES)


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attribute_is_an_option_of_the_module(name: str) -> None:
    options = yaml.safe_load(binding.DOCUMENTATION)["options"]
    values = [value for value in API["properties"][name].get("enum", []) if value]
    assert options[name].get("choices", []) == binding.SPEC[name].get("choices", []) == values
    assert options[name]["type"] == binding.SPEC[name]["type"]
    assert name in BINDING.fields or binding.SPEC[name]["no_log"], "it is compared, or secret"


@pytest.mark.parametrize("name", [name for name in ATTRIBUTES if name != "capture"])
def test_attribute_is_reachable_from_a_playbook(name: str) -> None:
    variable = VARIABLES.get(name, f"node_{name}")
    assert BINDING_VARIABLES[name] == (variable, name in COMMAND_LINE)
    spec = yaml.safe_load((ROOT / "roles/node/meta/argument_specs.yml").read_text(encoding="utf-8"))["argument_specs"][
        "main"
    ]
    option = spec["options"][variable]
    values = [value for value in API["properties"][name].get("enum", []) if value]
    assert [value for value in option.get("choices", []) if value] == values
    assert option.get("no_log", False) == (name == "user_data")


def test_a_capture_has_its_own_playbook() -> None:
    assert "capture" not in BINDING_VARIABLES
