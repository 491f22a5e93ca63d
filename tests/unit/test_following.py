# SPDX-License-Identifier: Apache-2.0
"""Requests of a playbook name its rollout, until the playbook ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collections.sled.fleet.plugins.module_utils import following
from ansible_collections.sled.fleet.plugins.module_utils.client import Client
from ansible_collections.sled.fleet.tests.unit.double import Sledd

# Stands for ansible-playbook: its worker starts a module, which prints its header whenever a line is sent to it.
PLAYBOOK = """
import os, subprocess, sys
if os.fork() == 0:
    subprocess.run([sys.executable, "-c", sys.argv[1]])
    os._exit(0)
os.wait()
"""
MODULE = """
import os, sys
from ansible_collections.sled.fleet.plugins.module_utils import following
print(os.getpid(), flush=True)
for _ in sys.stdin:
    print(following.headers(), flush=True)
"""


def test_requests_name_the_rollout(sledd: Sledd, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    sledd.node("n1", 1)
    client.find("nodes", "n1")
    monkeypatch.setenv(following.VARIABLE, "reimage-7")
    client.find("nodes", "n1")
    assert sledd.followed == ["", "reimage-7"]


def test_a_module_of_a_playbook_that_was_killed_follows_nothing(tmp_path: Path) -> None:
    program = tmp_path / following.PROGRAM
    program.write_text(PLAYBOOK, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, str(program), MODULE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path), following.VARIABLE: "reimage-7"},
    ) as playbook:
        assert playbook.stdin and playbook.stdout
        playbook.stdout.readline()

        def asked() -> str:
            assert playbook.stdin and playbook.stdout
            playbook.stdin.write("\n")
            playbook.stdin.flush()
            return playbook.stdout.readline().strip()

        assert asked() == "{'Sled-Rollout': 'reimage-7'}"
        playbook.send_signal(signal.SIGKILL)
        playbook.wait(timeout=60)
        assert asked() == "{}"
        playbook.stdin.close()  # the module ends


def test_another_process_of_the_same_number_is_not_the_playbook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(following.VARIABLE, "reimage-7")
    monkeypatch.setattr(following, "_playbook", lambda _process: (1, "started earlier"))
    assert following.headers() == {}
    monkeypatch.setattr(following, "_playbook", lambda _process: None)
    assert following.headers() == {"Sled-Rollout": "reimage-7"}
