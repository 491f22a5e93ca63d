# SPDX-License-Identifier: Apache-2.0
"""Carries out the waves of a rollout: starts their nodes in its record, binds them, and follows them to their ends."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Protocol

from ansible_collections.sled.fleet.plugins.module_utils import rollouts
from ansible_collections.sled.fleet.plugins.module_utils.bulk import ensure_bindings
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.supervise.runtime import PlaybookEnded
from ansible_collections.sled.fleet.plugins.module_utils.supervise.settings import Get, Settings, settings_of


class Supervisor(Protocol):
    """What follows nodes (plugin_utils/supervisor.py)."""

    def check(self) -> None:
        """Raises PlaybookEnded when nobody may act any more."""

    def pause(self, seconds: float) -> None:
        """Waits. Raises PlaybookEnded."""

    def follow(self, nodes: list[Settings], spare: Iterator[str] | None = None) -> dict[str, Json]:
        """Brings nodes to their ends; returns the outcomes by name. Advances `spare` while there is nothing to do."""

    def reported(self) -> set[str]:
        """The nodes whose ends the rollout has."""

    def say(self, text: str) -> None:
        """Prints a line."""


class Declared:
    """What is declared of nodes. Each is read once: for a hundred nodes that takes a fifth of a second."""

    def __init__(self, variables: Callable[[str], Get], rollout: str) -> None:
        self._variables, self._rollout = variables, rollout
        self._gets: dict[str, Get] = {}
        self._settings: dict[str, Settings] = {}

    def get(self, name: str) -> Get:
        """How the variables of a node are read."""
        if name not in self._gets:
            self._gets[name] = self._variables(name)
        return self._gets[name]

    def settings(self, name: str) -> Settings:
        """The settings of a node. Raises SettingsError."""
        if name not in self._settings:
            self._settings[name] = replace(settings_of(name, self.get(name)), rollout=self._rollout)
        return self._settings[name]

    def ahead(self, names: Iterable[str]) -> Iterator[str]:
        """Reads nodes ahead, one at each step. Any error, as of a template, is left to their wave: it comes again."""
        for name in names:
            with contextlib.suppress(Exception):
                self.settings(name)
            yield name


def carry_out(client: Client, options: Json, variables: Callable[[str], Get], supervisor: Supervisor) -> Json:
    """Carries out the waves (options rollout, waves, empty, reimage) until the rollout has stopped.

    Option started has the nodes of one wave that are started already: it is of a playbook that has tasks before and
    after them, and reports their ends.
    """
    waves, declared = options["waves"], Declared(variables, options["rollout"])
    if options["started"]:
        supervisor.check()
        return {"changed": True, "results": _ends(client, options, options["started"], declared, supervisor.follow)}
    nodes = [node for wave in waves for node in wave]
    changed = False
    for wave, later in zip_longest(waves, waves[1:], fillvalue=()):
        supervisor.check()
        turn = {"name": options["rollout"], "wave": wave, "nodes": nodes}
        begun = rollouts.start_wave(client, turn, pause=supervisor.pause)
        for line in begun["untouched"]:
            supervisor.say(line)
        if begun["started"]:
            spare = declared.ahead(later)
            results = _ends(client, options, begun["from"], declared, partial(supervisor.follow, spare=spare))
            known = supervisor.reported()
            if left := {node: result for node, result in results.items() if node not in known}:
                rollouts.end_wave(client, {"name": options["rollout"], "results": left})
            changed = True
    return {"changed": changed, "results": {}}


def _ends(
    client: Client, options: Json, started: Json, declared: Declared, follow: Callable[[list[Settings]], Json]
) -> Json:
    """Binds and follows nodes that were started, each with its generation before the rollout; returns the outcomes, or
    why a node failed.
    """
    terms = {"empty": options["empty"], "reimage": options["reimage"], "above": started}
    nodes, faults = dict[str, Get](), dict[str, str]()
    for name in started:  # a node that cannot be followed is not bound either
        try:
            declared.settings(name)
            nodes[name] = declared.get(name)
        except SledError as error:
            faults[name] = str(error)
    try:
        bound, failures = ensure_bindings(client, nodes, terms, dry=False)
        return {**follow([declared.settings(name) for name in bound]), **faults, **failures}
    except PlaybookEnded:
        raise
    except SledError as error:
        return dict.fromkeys(started, str(error))
