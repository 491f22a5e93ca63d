# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.power import news
from ansible_collections.sled.fleet.plugins.modules import power
from ansible_collections.sled.fleet.tests.unit.arguments import patch_module_args
from ansible_collections.sled.fleet.tests.unit.double import TOKEN, Sledd


def run(capsys: pytest.CaptureFixture[str], **options: Any) -> Json:
    with patch_module_args(options), pytest.raises(SystemExit):
        power.main()
    result: Json = json.loads(capsys.readouterr().out)
    return result


def commands(file: Path) -> Json:
    return {
        "driver": "command",
        "commands": {
            "on": ["sh", "-c", f"echo on >{file}"],
            "off": ["sh", "-c", f"echo off >{file}"],
            "status": ["cat", str(file)],
        },
    }


def test_module(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    # Where Ansible's controller is loaded too, as by the tests of action plugins, warnings are not in the result.
    warnings: list[str] = []
    monkeypatch.setattr("ansible.module_utils.basic.AnsibleModule.warn", lambda _module, text: warnings.append(text))
    file = tmp_path / "state"
    file.write_text("off\n", encoding="ascii")
    control = commands(file)
    assert run(capsys, node="n1", action="on", controls=[control], _ansible_check_mode=True)["power_state"] == "on"
    assert file.read_text(encoding="ascii") == "off\n"
    result = run(capsys, node="n1", action="on", controls=[control])
    assert (result["changed"], result["power_state"], result["control"]) == (True, "on", "command")
    assert not run(capsys, node="n1", action="on", controls=[control])["changed"]
    failed = run(capsys, node="n1", action="reset", controls=[control])
    assert failed["kind"] == "unsupported"
    assert failed["msg"] == "n1: reset: command: the driver command has no reset: it has on, off, status"
    assert "n1 has no power control" in run(capsys, node="n1", controls=[])["msg"]
    assert (
        "window: 0 nodes in 1 s" in run(capsys, node="n1", controls=[control], window={"nodes": 0, "seconds": 1})["msg"]
    )
    assert run(capsys, node="n1", action="off", controls=[control], events=True)["changed"]
    assert run(capsys, node="n1", action="on", controls=[control], events=True)["changed"]
    assert "sledd was not informed that n1 is switched on: no token" in str(warnings)


def test_ssh_accepts_the_host_keys_that_ansible_accepts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "ssh"
    program.write_text(f'#!/bin/sh\nfor word; do echo "$word"; done >{tmp_path}/said\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    common = """-o StrictHostKeyChecking=yes -o 'KnownHostsCommand="/my sledctl" known-hosts 52:54:00:77:00:01'"""
    control = {"driver": "ssh", "address": "10.0.0.1", "ssh_arguments": ["-4"]}
    run(capsys, node="n1", action="status", controls=[control], ssh_common_args=common)
    said = (tmp_path / "said").read_text(encoding="utf-8").splitlines()
    key = 'KnownHostsCommand="/my sledctl" known-hosts 52:54:00:77:00:01'
    assert said[4:9] == ["-4", "-o", "StrictHostKeyChecking=yes", "-o", key]
    failed = run(capsys, node="n1", action="status", controls=[control], ssh_common_args="-o 'x")
    assert failed["msg"] == 'n1: ssh_common_args "-o \'x": No closing quotation: want words as in a shell'


def test_module_tells_sledd(tmp_path: Path, module: Callable[..., Json], sledd: Sledd) -> None:
    file = tmp_path / "state"
    file.write_text("on\n", encoding="ascii")
    result = module(power, node="n1", action="cycle", events=True, controls=[commands(file)])
    assert result["power_state"] == "on"
    assert sledd.asked == [("POST", "/v1/nodes/n1/events", {"kind": "power", "detail": "cycle"})]


def test_module_expects_the_boot(tmp_path: Path, module: Callable[..., Json], sledd: Sledd) -> None:
    file = tmp_path / "state"
    file.write_text("on\n", encoding="ascii")
    sledd.raw = b"{}"
    for seconds, sent in ((900, 900), (1, 10), (10**6, 86400)):
        assert (
            module(power, node="n1", action="cycle", expect=seconds, controls=[commands(file)])["power_state"] == "on"
        )
        spec = {"by": "power", "seconds": sent, "sled_only": True, "revoke": True}
        assert sledd.asked[-1:] == [("POST", "/v1/nodes/n1/expect", spec)]


def test_a_power_on_is_one_request(sledd: Sledd) -> None:
    options = {"server": sledd.url, "token": TOKEN, "token_file": None, "ca_file": None, "node": "n1", "expect": 60}
    options |= {"action": "on", "events": True}
    warnings: list[str] = []
    sledd.node("n1", 1)
    sledd.raw = b"{}"
    news.switched_on(options, "ipmi", warnings.append)
    news.switched_on(options, "wol", warnings.append)
    news.expect(options, "ssh", warnings.append)  # the system that runs may only state that it restarts
    news.switched_on(options, "", warnings.append)  # before a reset
    news.switched_on({**options, "expect": 0}, "ipmi", warnings.append)
    news.switched_on({**options, "events": False}, "", warnings.append)
    known = {"seconds": 60, "sled_only": True, "power": "on"}
    assert [(path.rpartition("/")[2], body) for _, path, body in sledd.asked] == [
        ("expect", {**known, "by": "power", "revoke": True}),
        ("expect", {**known, "by": "wol", "revoke": False}),
        ("expect", {"seconds": 60, "sled_only": True, "by": "power", "revoke": False}),
        ("events", {"kind": "power", "detail": "on"}),
        ("events", {"kind": "power", "detail": "on"}),
    ]
    assert not warnings


def test_a_boot_that_cannot_be_expected_is_a_warning(
    tmp_path: Path, module: Callable[..., Json], sledd: Sledd, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr("ansible.module_utils.basic.AnsibleModule.warn", lambda _module, text: warnings.append(text))
    file = tmp_path / "state"
    file.write_text("off\n", encoding="ascii")
    sledd.refuse = [503]
    assert module(power, node="n1", action="on", expect=900, controls=[commands(file)])["power_state"] == "on"
    assert "sledctl admit n1 may be needed" in str(warnings)
