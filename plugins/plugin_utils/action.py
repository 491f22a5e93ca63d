# SPDX-License-Identifier: Apache-2.0
"""What actions of this collection have in common: they run in the process of their task, and report SledError."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from ansible.plugins.action import ActionBase
from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SledError


class SledAction(ActionBase):
    """Runs on the controller. A class beneath it has the options, and the work."""

    _supports_check_mode = True
    _supports_async = False
    _requires_connection = False
    TRANSFERS_FILES = False  # Ansible would tidy up behind itself, also on a machine that is gone

    SPEC: ClassVar[Json]
    NEEDED: ClassVar[Sequence[Sequence[Any]] | None] = None  # options that a value of another requires

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> Json:
        """The result of the task: that of the work, or why it failed."""
        result: Json = super().run(tmp, task_vars)
        if elsewhere := self.elsewhere(self._task.args):
            return {**result, "failed": True, "msg": elsewhere}
        _, options = self.validate_argument_spec(self.SPEC, required_if=self.NEEDED)
        try:
            result.update(self.work(options, task_vars or {}))
        except SledError as error:
            result.update(failed=True, msg=str(error), status=getattr(error, "status", 0))
        return result

    def elsewhere(self, given: Iterable[str]) -> str:
        """Where options belong that are not those of this action; empty: none is known."""
        return ""

    @abstractmethod
    def work(self, options: Json, task_vars: dict[str, Any]) -> Json:
        """Does what the options request, in check mode only as if; returns what is new in the result."""
