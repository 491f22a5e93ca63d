# SPDX-License-Identifier: Apache-2.0
"""Which rollout the playbook of this process carries out. Its requests carry that, so sledd knows that it is followed.

A module outlives a playbook that was killed, until its wait is over. It no longer follows the rollout then.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

HEADER = "Sled-Rollout"
VARIABLE = "SLED_ROLLOUT"
PROGRAM = "ansible-playbook"
PROC = Path("/proc")


def follow(name: str) -> None:
    """This process carries out a rollout: that of a task, which Ansible makes for it."""
    os.environ[VARIABLE] = name


def headers() -> dict[str, str]:
    """The header of a request; none without a rollout, or when its playbook has ended."""
    name = os.environ.get(VARIABLE, "")
    return {HEADER: name} if name and _lives() else {}


def _lives() -> bool:
    """Whether the playbook still runs. One that is not found among the ancestors, as on a Mac, is not known to end."""
    playbook = _playbook(os.getpid())
    return playbook is None or _started(playbook[0]) == playbook[1]


@cache
def _playbook(process: int) -> tuple[int, str] | None:
    """Number and start time of the playbook: the last of the ancestors in a row that run its program."""
    found: tuple[int, str] | None = None
    above = _parent(process)
    while above > 1:
        started = _started(above)
        if _runs_playbook(above) and started:
            found = (above, started)
        elif found:
            break
        above = _parent(above)
    return found


def _runs_playbook(process: int) -> bool:
    try:
        words = (PROC / str(process) / "cmdline").read_bytes().split(b"\0")[:3]
    except OSError:
        return False
    return any(os.path.basename(word).decode(errors="replace") == PROGRAM for word in words)


def _fields(process: int) -> list[str]:
    """The fields of a process after its name, from its state; none if it is gone."""
    try:
        return (PROC / str(process) / "stat").read_text(encoding="ascii", errors="replace").rpartition(") ")[2].split()
    except OSError:
        return []


def _parent(process: int) -> int:
    fields = _fields(process)
    return int(fields[1]) if fields else 0


def _started(process: int) -> str:
    """When a process was started, in ticks; empty if it has ended."""
    fields = _fields(process)
    return fields[19] if fields and fields[0] not in "ZX" else ""
