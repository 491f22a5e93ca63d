# SPDX-License-Identifier: Apache-2.0
"""patch_module_args of ansible.module_utils.testing, for every ansible-core."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any
from unittest import mock

from ansible.module_utils import basic

try:
    from ansible.module_utils.testing import patch_module_args
except ImportError:  # ansible-core before 2.18

    @contextlib.contextmanager
    def patch_module_args(args: dict[str, Any] | None = None) -> Iterator[None]:
        """Puts arguments where the first AnsibleModule reads them."""
        packed = json.dumps({"ANSIBLE_MODULE_ARGS": args}).encode()
        with mock.patch.object(basic, "_ANSIBLE_ARGS", packed):
            yield


__all__ = ["patch_module_args"]
