# SPDX-License-Identifier: Apache-2.0
"""A driver to test, and how its failure is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.power.driver import Driver, PowerError
from ansible_collections.sled.fleet.plugins.module_utils.power.drivers import make

SECRET = "s3cret w0rd"


def a_driver(**options: Any) -> Driver:
    login = {"address": "10.0.0.1", "username": "sled", "password": SECRET, "networks": ["10.0.0.0/24", "127.0.0.0/8"]}
    return make("n1", {**login, **options})


def kind_of(work: Callable[[], Any]) -> tuple[str, str]:
    with pytest.raises(PowerError) as caught:
        work()
    return caught.value.kind, str(caught.value)
