# SPDX-License-Identifier: Apache-2.0
"""A playbook is killed: the pages say that nobody follows its rollout, and how to resume it."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time

from ansible_collections.sled.fleet.tests.rollout.fleet import TREE
from ansible_collections.sled.fleet.tests.web.conftest import Site
from playwright.sync_api import expect

SILENT = "nobody follows it"


def test_the_command_on_the_page_resumes(site: Site) -> None:
    fleet, context = site.fleet, site.context()
    playbook = fleet.play("-e", "image=v2 again=true", "--limit", "n38,n39,n40", rollout={"batch": "1"})
    fleet.interrupt(playbook, signal.SIGKILL, lambda: fleet.rollouts()[0]["desired"] == "image v2" and runs(site) > 0)
    name, start = fleet.rollouts()[0]["name"], time.monotonic()
    page, first = site.open(context, f"/ui/rollouts/{name}"), site.open(context)
    expect(page.locator(".head")).to_contain_text(SILENT, timeout=3 * 60_000)
    expect(first.get_by_text(f"{SILENT}").first).to_be_visible()
    print(f"said {time.monotonic() - start:.0f} s after the kill")
    command = shlex.split(page.locator(".head .command code").inner_text())
    assert command[0] == "ansible-playbook" and command[command.index("--limit") + 1] == "n38,n39,n40"
    environment = {**os.environ, "ANSIBLE_CONFIG": str(TREE / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"}
    resumed = subprocess.Popen(
        command, cwd=TREE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    expect(page.locator(".head")).not_to_contain_text(SILENT, timeout=3 * 60_000)
    text, _ = resumed.communicate(timeout=600)
    assert resumed.returncode == 0, text
    expect(page.locator(".head")).to_contain_text("All 3 nodes are done")
    assert fleet.rollouts()[0]["name"] == name and fleet.rollouts()[0]["resumed"] == 1
    context.close()


def runs(site: Site) -> int:
    count: int = site.fleet.rollouts()[0]["counts"]["running"]
    return count
