# SPDX-License-Identifier: Apache-2.0
"""Names of variables that Sled reads, so that a misspelled one is an error and not a guard that nobody has. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.sled.fleet.plugins.module_utils.client import SettingsError
from ansible_collections.sled.fleet.plugins.module_utils.rollouts import SPEC
from ansible_collections.sled.fleet.plugins.module_utils.words import BINDING_VARIABLES, NODE

ROLLOUT = tuple(name for name in SPEC if name not in ("desired", "again"))
SUPERVISE = (
    "supervise_entry_methods",
    "supervise_steps",
    "supervise_verify",
    "supervise_sledc",
    "supervise_node",
    "supervise_entry_method",  # for hooks
    "supervise_fallback",
)
NODES = (
    *(f"node_{name}" for name in NODE if name != "bmc"),
    *(variable for variable, _ in BINDING_VARIABLES.values()),
    "node_state",
    "node_controller",
)
GUARDS = ("sled_rollout", "sled_max_wipes", "sled_max_reimages", "sled_hook_before", "sled_hook_after")
ALIKE = 0.8  # of names that begin with node_ or sled_, which others use too: node_exporter_port is no mistake


def meant(word: str, words: Iterable[str], alike: float = 0.6) -> str:
    """The one that a misspelled word stands for; empty: none."""
    return next(iter(difflib.get_close_matches(word, list(words), 1, alike)), "")


def check_variables(node: str, names: Iterable[str]) -> None:
    """Raises SettingsError for a variable of a node that Sled does not read and that must be meant for it."""
    for name in names:
        if name.startswith("supervise_") and name not in SUPERVISE:
            raise SettingsError(f"{node}: {name} is not a variable of Sled: {hint(name, SUPERVISE)}")
        if name.startswith("node_") and name not in NODES and meant(name, NODES, ALIKE):
            raise SettingsError(f"{node}: {name} is not a variable of Sled: {hint(name, NODES)}")
        if name.startswith("sled_") and (guard := meant(name, GUARDS, ALIKE)) and name not in GUARDS:
            raise SettingsError(f"{node}: {name} is not a variable of Sled: did you mean {guard}?")


def check_rollout(terms: Any) -> None:
    """Raises SettingsError for a value of sled_rollout with a key that nobody reads."""
    if not isinstance(terms, Mapping):
        raise SettingsError(f"sled_rollout {terms!r}: want a dictionary of {', '.join(ROLLOUT)}")
    for key in terms:
        if key not in ROLLOUT:
            raise SettingsError(f"sled_rollout: {key}: {hint(str(key), ROLLOUT)}")


def hint(word: str, words: Iterable[str]) -> str:
    """What is right instead of a word."""
    found = meant(word, words)
    return f"did you mean {found}?" if found else f"want one of {', '.join(words)}"
