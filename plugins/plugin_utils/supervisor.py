# SPDX-License-Identifier: Apache-2.0
"""Follows nodes to their ends, one wave after the other in one process, and shows that."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import time
from collections.abc import Iterator
from typing import Any

from ansible.utils.display import Display
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json
from ansible_collections.sled.fleet.plugins.module_utils.supervise.actions import Actions, Tools
from ansible_collections.sled.fleet.plugins.module_utils.supervise.lines import Lines
from ansible_collections.sled.fleet.plugins.module_utils.supervise.loop import Loop
from ansible_collections.sled.fleet.plugins.module_utils.supervise.runtime import WARM, RealRuntime
from ansible_collections.sled.fleet.plugins.module_utils.supervise.settings import Settings
from ansible_collections.sled.fleet.plugins.module_utils.supervise.table import Table
from ansible_collections.sled.fleet.plugins.module_utils.warm_start import CACHE

SPEC: Json = {
    "cache": {"type": "path", "default": CACHE},
    "warm": {"type": "int", "default": WARM},
}
# Read where ansible-playbook loads the class: the process of a task has another standard output.
TERMINAL = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
SIZE = shutil.get_terminal_size()


class Supervisor:
    """Prints what happens: on a terminal a table, else lines."""

    def __init__(self, client: Client, options: Json) -> None:
        self._table: Table | None = None
        self._actions = Actions(Tools(client, options, self.say, options["cache"]))
        self.runtime = RealRuntime(client, self._actions, options["warm"])

    def __enter__(self) -> Supervisor:
        gc.freeze()  # what Ansible has loaded stays: the collector needs 0.07 s to look through it
        self.runtime.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.runtime.__exit__(*error)

    def follow(self, nodes: list[Settings], spare: Iterator[str] | None = None) -> dict[str, Json]:
        """Follows nodes to their ends; returns the outcomes by name. Advances `spare` while there is nothing to do."""
        if not TERMINAL:
            return Loop(nodes, self.runtime, Lines(len(nodes), self.say, time.monotonic).tell).run(spare)
        self._table = Table(_draw, time.monotonic, SIZE.columns, SIZE.lines)
        try:
            return Loop(nodes, self.runtime, self._table.tell, self._table.tick).run(spare)
        finally:
            self._table = None

    def check(self) -> None:
        """Raises PlaybookEnded when nobody may act any more."""
        self.runtime.check()

    def pause(self, seconds: float) -> None:
        """Waits. Raises PlaybookEnded."""
        self.runtime.pause(seconds)

    def reported(self) -> set[str]:
        """The nodes whose ends their rollout has."""
        return self._actions.reported

    def say(self, text: str) -> None:
        """Prints a line while the task runs, from any thread."""
        table = self._table
        if table:
            table.note(text)
        else:
            Display().display(text)


def _draw(text: str) -> None:
    """Prints on the terminal, and not in a log."""
    Display().display(text, screen_only=True)
