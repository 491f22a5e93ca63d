# SPDX-License-Identifier: Apache-2.0
"""What the callback sled.fleet.brief prints of a playbook."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
TASKS: list[dict[str, Any]] = [
    {"name": "Read something", "ansible.builtin.set_fact": {"answer": 42}},
    {
        "name": "Print which disks are wiped",
        "ansible.builtin.debug": {"msg": ["n1: serial:1", "n2: serial:2"]},
        "run_once": True,
    },
    {"name": "Change something", "ansible.builtin.command": "true", "changed_when": True},
    {"name": "Skip something", "ansible.builtin.command": "false", "when": False},
    {"name": "Print where it is", "ansible.builtin.debug": {"msg": "the report: r.html"}, "run_once": True},
    {
        "name": "Print the result",
        "ansible.builtin.debug": {"msg": "{{ told | default('') }}"},
        "run_once": True,
        "when": "told is defined",
    },
    {
        "name": "Drain a node",
        "ansible.builtin.shell": "echo no such node; exit 3",
        "when": "inventory_hostname == exits | default('')",
    },
    {
        "name": "Fail for a node",
        "ansible.builtin.fail": {"msg": "disk is on fire"},
        "when": "inventory_hostname == fails | default('')",
    },
]
PLAY = {"name": "Image nodes", "hosts": "all", "connection": "local", "gather_facts": False}
BRIEF = """Which disks are wiped:
  n1: serial:1
  n2: serial:2
the report: r.html
"""


def play(folder: Path, name: str, *options: str, tasks: slice = slice(None)) -> subprocess.CompletedProcess[str]:
    """Runs the playbook on two hosts, under a file name."""
    shown = [PLAY | {"tasks": TASKS[tasks]}]
    (folder / name).write_text(yaml.safe_dump(shown))
    environment = os.environ | {
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_DEPRECATION_WARNINGS": "0",
    }
    program = Path(sys.executable).with_name("ansible-playbook")
    command = [
        str(program),
        "-i",
        "n1,n2,",
        "-e",
        f"ansible_python_interpreter={sys.executable}",
        *options,
        str(folder / name),
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False, cwd=ROOT)


@pytest.mark.parametrize("name", ["reimage.yml", "wipe.yml"])
def test_a_rollout_is_brief(tmp_path: Path, name: str) -> None:
    ran = play(tmp_path, name)
    assert (ran.returncode, ran.stdout) == (0, BRIEF + "changed=2 unreachable=0 failed=0\n"), ran.stderr


def test_nothing_to_do_is_a_line(tmp_path: Path) -> None:
    ran = play(tmp_path, "reimage.yml", tasks=slice(0, 1))
    assert ran.stdout == "every node is as requested: no rollout was started\nchanged=0 unreachable=0 failed=0\n"
    checked = play(tmp_path, "reimage.yml", "--check", tasks=slice(0, 1))  # which starts none in any case
    assert checked.stdout == "changed=0 unreachable=0 failed=0\n"


def test_a_failure_is_one_line_and_once(tmp_path: Path) -> None:
    ran = play(tmp_path, "reimage.yml", "-e", "fails=n2")
    assert (ran.returncode, ran.stdout) == (2, BRIEF + "n2: disk is on fire\nchanged=2 unreachable=0 failed=1\n")
    again = play(tmp_path, "reimage.yml", "-e", "fails=n2", "-e", "told='n2  failed  disk is on fire'")
    assert again.stdout.count("disk is on fire") == 1, "the table has it"
    assert again.stdout.endswith("\nchanged=2 unreachable=0 failed=1\n")


def test_what_a_command_printed_is_printed_if_it_fails(tmp_path: Path) -> None:
    ran = play(tmp_path, "reimage.yml", "-e", "exits=n2")
    assert ran.returncode == 2
    assert ran.stdout.startswith(BRIEF)
    assert "TASK [Drain a node]" in ran.stdout and "no such node" in ran.stdout + ran.stderr
    assert ran.stdout.endswith("changed=2 unreachable=0 failed=1\n")


@pytest.mark.parametrize(("name", "options"), [("reimage.yml", ["-v"]), ("site.yml", [])])
def test_all_is_printed(tmp_path: Path, name: str, options: list[str]) -> None:
    ran = play(tmp_path, name, *options)
    assert ran.returncode == 0
    for text in ("PLAY [Image nodes]", "TASK [Change something]", "changed: [n1]", "PLAY RECAP"):
        assert text in ran.stdout, ran.stdout
    assert not ran.stdout.endswith("\nchanged=2 unreachable=0 failed=0\n")
