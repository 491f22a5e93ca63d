# SPDX-License-Identifier: Apache-2.0
"""Carries out the waves of a rollout whose nodes need no separate task: starts, binds and follows the nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from ansible_collections.sled.fleet.plugins.module_utils import rollouts
from ansible_collections.sled.fleet.plugins.module_utils.bulk import ensure_bindings
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.supervise.settings import Get, Settings, settings_of
from ansible_collections.sled.fleet.plugins.module_utils.supervise.world import PlaybookEnded


class Crew(Protocol):
    """Those who follow nodes."""

    def check(self) -> None:
        """Raises PlaybookEnded when nobody is to act any more."""

    def pause(self, seconds: float) -> None:
        """Waits. Raises PlaybookEnded."""

    def follow(self, nodes: list[Settings]) -> dict[str, Json]:
        """Brings nodes to their ends; returns the outcomes by name."""

    def reported(self) -> set[str]:
        """The nodes whose ends the rollout has."""

    def say(self, text: str) -> None:
        """Prints a line."""


def carry_out(client: Client, options: Json, variables: Callable[[str], Get], crew: Crew) -> Json:
    """Carries out the waves (options rollout, waves, empty, reimage) until the rollout has stopped."""
    nodes = [node for wave in options["waves"] for node in wave]
    changed = False
    for wave in options["waves"]:
        crew.check()
        turn = {"name": options["rollout"], "wave": wave, "nodes": nodes}
        begun = rollouts.start_wave(client, turn, pause=crew.pause)
        for line in begun["untouched"]:
            crew.say(line)
        if begun["started"]:
            results = _ends(client, options, begun, {name: variables(name) for name in begun["started"]}, crew)
            known = crew.reported()
            if left := {node: result for node, result in results.items() if node not in known}:
                rollouts.end_wave(client, {"name": options["rollout"], "results": left})
            changed = True
    return {"changed": changed}


def _ends(client: Client, options: Json, begun: Json, nodes: dict[str, Get], crew: Crew) -> Json:
    """Binds and follows nodes that were started; returns the outcomes, or why a node failed."""
    terms = {"empty": options["empty"], "reimage": options["reimage"], "above": begun["from"]}
    try:
        bound, failures = ensure_bindings(client, nodes, terms, dry=False)
        settings = [replace(settings_of(name, nodes[name]), rollout=options["rollout"]) for name in bound]
        return {**crew.follow(settings), **failures}
    except PlaybookEnded:
        raise
    except SledError as error:
        return dict.fromkeys(nodes, str(error))
