# SPDX-License-Identifier: Apache-2.0
"""Playbooks without a limit, where somebody can be asked; where nobody can: terraform-provider/internal/frontends."""

from __future__ import annotations

import os
import pty
import select
import time
from collections.abc import Callable

import pytest
import yaml
from ansible_collections.sled.fleet.tests.rollout.fleet import PATIENCE, TREE, Fleet

Make = Callable[[int], Fleet]


@pytest.fixture
def fleet(fleet_of: Make) -> Fleet:
    """Four nodes with image v1, and an inventory without a limit."""
    fleet = fleet_of(4)
    fleet.settle("v1", fleet.nodes)
    hosts = fleet.folder / "hosts.yml"
    inventory = yaml.safe_load(hosts.read_text())
    del inventory["all"]["vars"]["sled_max_wipes"]
    hosts.write_text(yaml.safe_dump(inventory))
    return fleet


def asked(fleet: Fleet, answer: str, *options: str) -> tuple[int, str]:
    """Runs a playbook on a terminal, where a person types an answer; returns its exit code and output."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(TREE)
        os.environ.update(ANSIBLE_CONFIG=str(TREE / "ansible.cfg"), ANSIBLE_NOCOLOR="1", TERM="dumb")
        os.execvp("ansible-playbook", ["ansible-playbook", "-i", str(fleet.folder / "hosts.yml"), *options])
    text, deadline = "", time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 1)[0]:
            if text.rstrip().endswith("[y/N]:"):  # typed again: what comes before it reads is dropped
                os.write(terminal, f"{answer}\r".encode())
            continue
        try:
            text += os.read(terminal, 65536).decode(errors="replace")
        except OSError:  # the program has ended
            break
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), text


def test_a_person_is_asked(fleet: Fleet) -> None:
    before = fleet.marks()
    for answer in ("n", "", "yess"):
        code, text = asked(fleet, answer, "playbooks/wipe.yml")
        assert code != 0 and "Wipe 4 nodes (n1, n2, n3, n4)?" in text and "not confirmed" in text, text
    assert fleet.marks() == before and fleet.rollouts() == []
    code, text = asked(fleet, "y", "playbooks/reimage.yml", "-e", "image=v2", "--limit", "n1,n2")
    assert code == 0 and "Image 2 nodes (n1, n2)?" in text, text
    after = fleet.marks()
    assert [node for node in fleet.nodes if after[node] != before[node]] == ["n1", "n2"]


def test_nodes_that_run_from_memory_are_named(fleet: Fleet) -> None:
    root = {"name": "root", "kind": "root", "digest": f"sha256:{7:064}", "urls": ["http://127.0.0.1/root"]}
    fleet.client.put("images", "root", {**root, "bytes": 1 << 20, "file_bytes": 1 << 20}, 0)
    _, text = asked(fleet, "n", "playbooks/reimage.yml", "-e", "image=root", "--limit", "n1,n2", "--check")
    assert "n1, n2: run from memory, and their disks are left as they are" in text, text
    assert "wiped" not in text, text
