# SPDX-License-Identifier: Apache-2.0
"""Reports the ends of nodes to their rollout. Those that end during a request go together in the next one."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from ansible_collections.sled.fleet.plugins.module_utils import rollouts
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SledError


@dataclass
class End:
    """The end of a node."""

    node: str
    result: Json
    sent: bool = False
    refused: str = ""  # why it was not recorded


class Ends:
    """The ends of the nodes of one rollout. Any thread may report."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._waiting: list[End] = []
        self._lock, self._turn = threading.Lock(), threading.Lock()

    def report(self, rollout: str, node: str, result: Json) -> str:
        """Reports how a node ended (state, entry_method, reason); returns why that was refused."""
        end = End(node, result)
        with self._lock:
            self._waiting.append(end)
        with self._turn:
            if not end.sent:
                self._send(rollout)
        return end.refused

    def _send(self, rollout: str) -> None:
        with self._lock:
            ends, self._waiting = self._waiting, []
        try:
            refused = rollouts.end_nodes(self._client, rollout, {end.node: end.result for end in ends})
        except SledError as error:
            refused = {end.node: str(error) for end in ends}
        for end in ends:
            end.sent, end.refused = True, refused.get(end.node, "")
