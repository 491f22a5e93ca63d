# SPDX-License-Identifier: Apache-2.0
"""What a person reads of a rollout: texts, failures and one line at the end."""

from __future__ import annotations

DOCUMENTATION = r"""
name: brief
type: stdout
short_description: Prints of reimage.yml and wipe.yml what a person reads
version_added: 0.1.0
description:
  - Of the playbooks C(reimage.yml) and C(wipe.yml), it prints the texts of M(ansible.builtin.debug), the lines of
    M(sled.fleet.supervise), differences, warnings, failures, and one line at the end. It leaves out the names of plays
    and tasks, and what they did to which host.
  - A failure of M(ansible.builtin.fail) or M(ansible.builtin.assert) is one line, and none if the same was printed of
    the host before.
  - With C(-v), and for all other playbooks, it prints what P(ansible.builtin.default#callback) prints.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - default_callback
  - result_format_callback
requirements:
  - set as stdout_callback in ansible.cfg, or by ANSIBLE_STDOUT_CALLBACK
"""

import os
from typing import Any

from ansible import constants as C
from ansible.plugins.callback.default import CallbackModule as Default

PLAYBOOKS = ("reimage.yml", "wipe.yml")
DEBUG = ("debug", "ansible.builtin.debug", "ansible.legacy.debug")
FAIL = tuple(f"{prefix}{name}" for prefix in ("", "ansible.builtin.", "ansible.legacy.") for name in ("fail", "assert"))
# Of a result: the default callback prints it.
NOTABLE = ("warnings", "deprecations", "exception")


class CallbackModule(Default):
    """The default callback, which is silent about what went well."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "sled.fleet.brief"

    def __init__(self) -> None:
        super().__init__()
        self._brief = False
        self._printed: list[str] = []  # lines

    def v2_playbook_on_start(self, playbook: Any) -> None:
        name = os.path.basename(playbook._file_name)
        self._brief = name in PLAYBOOKS and not self._display.verbosity
        super().v2_playbook_on_start(playbook)

    def v2_playbook_on_play_start(self, play: Any) -> None:
        if self._brief:
            self._play = play  # read by the default callback
        else:
            super().v2_playbook_on_play_start(play)

    def v2_runner_on_ok(self, result: Any) -> None:
        found = result._result
        if not self._brief or any(found.get(kind) for kind in NOTABLE):
            super().v2_runner_on_ok(result)
        elif result._task.action in DEBUG and "msg" in found:
            self._text(result._task, found["msg"])

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        found, host = result._result, result._host.get_name()
        if not self._brief or ignore_errors or result._task.action not in FAIL or not found.get("msg"):
            super().v2_runner_on_failed(result, ignore_errors)
        elif not any(host in line and str(found["msg"]) in line for line in self._printed):
            self._display.display(f"{host}: {found['msg']}", color=C.COLOR_ERROR)

    def v2_runner_item_on_ok(self, result: Any) -> None:
        found = result._result
        if not self._brief or any(found.get(kind) for kind in NOTABLE):
            super().v2_runner_item_on_ok(result)
        elif result._task.action in DEBUG and "msg" in found:
            self._text(result._task, found["msg"])

    def v2_playbook_on_include(self, included_file: Any) -> None:
        if not self._brief:
            super().v2_playbook_on_include(included_file)

    def v2_playbook_on_no_hosts_matched(self) -> None:
        if not self._brief:
            super().v2_playbook_on_no_hosts_matched()

    def v2_playbook_on_stats(self, stats: Any) -> None:
        if not self._brief:
            super().v2_playbook_on_stats(stats)
            return
        hosts = [stats.summarize(host) for host in stats.processed]
        changed = sum(host["changed"] for host in hosts)
        unreachable, failed = (sum(1 for host in hosts if host[kind]) for kind in ("unreachable", "failures"))
        if not self._printed and not unreachable and not failed and not self._play.check_mode:
            self._display.display("every node is as requested: no rollout was started")
        self._display.display(f"changed={changed} unreachable={unreachable} failed={failed}")

    def _text(self, task: Any, text: Any) -> None:
        lines = text if isinstance(text, list) else [text]
        name = str(self._last_task_name or task.get_name())
        if len(lines) > 1:  # of "role : Print what it is"
            heading = name.rpartition(" : ")[2].removeprefix("Print ")
            lines = [f"{heading[:1].upper()}{heading[1:]}:", *(f"  {line}" for line in lines)]
        self._printed += [str(line) for line in lines]
        for line in lines:
            self._display.display(str(line))
