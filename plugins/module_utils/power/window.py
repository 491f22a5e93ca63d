# SPDX-License-Identifier: Apache-2.0
"""At most so many power-ons in so many seconds, over all processes of this machine that share a file."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SettingsError, SledError

LONGEST = 86400.0  # seconds ahead that a place can be; more is a clock that was set back


def default_file() -> str:
    """The default file of the window."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return str(Path(state) / "sled" / "power-window")


def place(taken: list[float], now: float, nodes: int, seconds: float) -> tuple[float, list[float]]:
    """When the next power-on may be, and the places that then are taken."""
    kept = sorted(t for t in taken if now - seconds < t < now + LONGEST)
    at = max(now, kept[-nodes] + seconds) if len(kept) >= nodes else now
    return at, [*kept, at]


@dataclass(frozen=True)
class Window:
    """The limit, and the file that all who keep it share."""

    nodes: int
    seconds: float
    file: str

    def take(self, now: float) -> float:
        """Reserves the next free place, and returns the seconds until then.

        Who takes one and dies has wasted it, no more.
        """
        try:
            Path(self.file).parent.mkdir(parents=True, exist_ok=True)
            with open(os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="ascii") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                at, taken = place(self._read(file.read()), now, self.nodes, self.seconds)
                file.seek(0)
                file.truncate()
                json.dump(taken, file)
        except OSError as error:
            raise SettingsError(
                f"window: file {self.file}: {error.strerror}: a file that this user may write is needed"
            ) from error
        return at - now

    @staticmethod
    def _read(text: str) -> list[float]:
        try:
            return [float(one) for one in json.loads(text or "[]")]
        except (ValueError, TypeError):
            return []  # cut short by a crash: the window starts empty

    def wait(self, clock: Callable[[], float] = time.time, pause: Callable[[float], None] = time.sleep) -> float:
        """Waits for the place; returns the seconds that took."""
        away = self.take(clock())
        if away > 0:
            pause(away)
        return away


def gate_of(limit: Json) -> Window:
    """The same limit once more, for the requests themselves: between place and request a BMC is asked other things."""
    window = window_of(limit)
    return Window(window.nodes, window.seconds, window.file + ".on")


def window_of(limit: Json) -> Window:
    """The window as the options of a module say."""
    if limit["nodes"] < 1 or limit["seconds"] <= 0:
        raise SledError(
            f"window: {limit['nodes']} nodes in {limit['seconds']:g} s: want at least 1 node and more than 0 s"
        )
    return Window(limit["nodes"], limit["seconds"], limit["file"] or default_file())
