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
from ansible_collections.sled.fleet.plugins.module_utils.supervise.acts import Acts, Tools
from ansible_collections.sled.fleet.plugins.module_utils.supervise.lines import Lines
from ansible_collections.sled.fleet.plugins.module_utils.supervise.settings import Settings
from ansible_collections.sled.fleet.plugins.module_utils.supervise.table import Table
from ansible_collections.sled.fleet.plugins.module_utils.supervise.wave import Wave
from ansible_collections.sled.fleet.plugins.module_utils.supervise.world import WARM, RealWorld
from ansible_collections.sled.fleet.plugins.module_utils.warmstart import CACHE

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
        self._acts = Acts(Tools(client, options, self.say, options["cache"]))
        self.world = RealWorld(client, self._acts, options["warm"])

    def __enter__(self) -> Supervisor:
        gc.freeze()  # what Ansible has loaded stays: the collector needs 0.07 s to look through it
        self.world.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.world.__exit__(*error)

    def follow(self, nodes: list[Settings], spare: Iterator[str] | None = None) -> dict[str, Json]:
        """Follows nodes to their ends; returns the outcomes by name. Advances `spare` while there is nothing to do."""
        if not TERMINAL:
            return Wave(nodes, self.world, Lines(len(nodes), self.say, time.monotonic).tell).run(spare)
        self._table = Table(_draw, time.monotonic, SIZE.columns, SIZE.lines)
        try:
            return Wave(nodes, self.world, self._table.tell, self._table.tick).run(spare)
        finally:
            self._table = None

    def check(self) -> None:
        """Raises PlaybookEnded when nobody is to act any more."""
        self.world.check()

    def pause(self, seconds: float) -> None:
        """Waits. Raises PlaybookEnded."""
        self.world.pause(seconds)

    def reported(self) -> set[str]:
        """The nodes whose ends their rollout has."""
        return self._acts.reported

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
