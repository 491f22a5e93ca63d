# SPDX-License-Identifier: Apache-2.0
"""What the tests share: a double of sledd, a client of it, and modules that run in process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json
from ansible_collections.sled.fleet.tests.unit.arguments import patch_module_args
from ansible_collections.sled.fleet.tests.unit.double import TOKEN, Sledd


@pytest.fixture
def sledd() -> Iterator[Sledd]:
    server = Sledd()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def client(sledd: Sledd) -> Client:
    return Client(sledd.url, TOKEN, timeout=60)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "SLED_SERVER",
        "SLED_TOKEN",
        "SLED_TOKEN_FILE",
        "SLED_CA",
        "SLED_ROLLOUT",
        "http_proxy",
        "https_proxy",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def module(sledd: Sledd, capsys: pytest.CaptureFixture[str]) -> Callable[..., Json]:
    """Runs a module's main as Ansible would, and gives what it printed."""

    def run(of: ModuleType, **options: Any) -> Json:
        arguments = {"server": sledd.url, "token": TOKEN, "_ansible_check_mode": options.pop("check", False), **options}
        with patch_module_args(arguments), pytest.raises(SystemExit):
            of.main()
        printed = capsys.readouterr().out
        assert TOKEN not in printed
        result: Json = json.loads(printed)
        return result

    return run
