# SPDX-License-Identifier: Apache-2.0
"""The verification over SSH: which ssh is run, and what its answers mean. tests/rollout has it with a real ssh."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SettingsError, SledError
from ansible_collections.sled.fleet.plugins.module_utils.supervise.login import Login
from ansible_collections.sled.fleet.plugins.module_utils.supervise.verify import COMMAND, compare, verify

KEY = "ssh-ed25519 " + "A" * 68
LOGIN = Login("10.0.0.9", user="ops", arguments=("-o", "UserKnownHostsFile=theirs"))
ANSWER = "echo n1; echo b1; echo name=v2"
Run = Callable[..., list[str]]


def a_node(key: str = KEY) -> Json:
    system = {"boot_id": "b1", "host_key": key}
    return {"mac": "52:54:00:77:00:01", "name": "n1", "binding": {"image": "v2"}, "status": {"os": system}}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Verifies with an ssh that is a script; returns its calls, each after what the file of known hosts had."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def go(script: str, node: Json | None = None, timeout: float = 60.0) -> list[str]:
        calls = tmp_path / "calls"
        calls.write_text("", encoding="ascii")
        known = f"for one; do case $one in UserKnownHostsFile=/*) cat ${{one#*=}} >>{calls};; esac; done\n"
        (tmp_path / "ssh").write_text(f'#!/bin/sh\n{known}echo "$*" >>{calls}\n{script}\n', encoding="ascii")
        (tmp_path / "ssh").chmod(0o755)
        now, waited = time.monotonic(), list[float]()
        verify(LOGIN, node or a_node(), timeout, lambda: now + sum(waited), waited.append)
        return calls.read_text(encoding="ascii").splitlines()

    return go


def test_only_the_host_key_that_sledd_has_is_accepted(run: Run) -> None:
    known, call = run(ANSWER)
    assert known == f"52:54:00:77:00:01 {KEY}"
    assert call.startswith("-o StrictHostKeyChecking=yes ") and call.endswith(f"-l ops -- 10.0.0.9 {COMMAND}")
    assert call.index("KnownHostsCommand=none") < call.index("UserKnownHostsFile=theirs"), "ssh takes the first value"
    assert "HostKeyAlias=52:54:00:77:00:01" in call and "GlobalKnownHostsFile=/dev/null" in call
    (call,) = run(ANSWER, a_node("ssh-rsa AAAA"))
    assert "StrictHostKeyChecking=yes" in call and "KnownHostsCommand" not in call, "that of the inventory holds"


def test_it_waits_for_ssh_and_not_for_one_that_refuses(run: Run, tmp_path: Path) -> None:
    count = f"echo >>{tmp_path}/tries; [ $(wc -l <{tmp_path}/tries) -ge 3 ] || {{ echo refused >&2; exit 255; }}\n"
    assert len(run(count + ANSWER)) == 6
    with pytest.raises(SledError, match=r"no SSH at 10\.0\.0\.9 within 4 s: no route to host"):
        run("echo no route to host >&2; exit 255", timeout=4)
    for words in ("Host key verification failed.", "ops@10.0.0.9: Permission denied (publickey)."):
        with pytest.raises(SledError, match=r"cannot be verified over SSH: .*(failed|denied)"):
            run(f"echo '{words}' >&2; [ $(wc -l <{tmp_path}/calls) = 2 ] && exit 255; exit 1")
    with pytest.raises(SledError, match=r"no such file \(code 1\)"):
        run("echo no such file >&2; exit 1")


def test_an_ssh_that_hangs_or_does_not_end_is_ended(run: Run) -> None:
    with pytest.raises(SledError, match=r"no SSH at 10\.0\.0\.9 within 1 s: ssh did not end within 1 s"):
        run("sleep 600 & wait", timeout=1)
    with pytest.raises(SledError):
        run("yes", timeout=1)
    with pytest.raises(SledError):
        run("yes >&2", timeout=1)


def test_no_ssh_at_all(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subprocess.Popen", lambda *_, **__: (_ for _ in ()).throw(FileNotFoundError(2, "is missing")))
    with pytest.raises(SettingsError, match="ssh cannot be run: is missing"):
        run(ANSWER)


@pytest.mark.parametrize(
    "answer", ["n2\nb1\nname=v2", "n1\nb0\nname=v2", "n1\nb1\nname=v1", "n1\nb1", "", "\x1b[2J" * 900]
)
def test_another_system(answer: str) -> None:
    with pytest.raises(SledError, match="requested are n1, boot b1, image v2") as failed:
        compare(a_node(), answer)
    assert str(failed.value).isprintable() and len(str(failed.value)) < 300


def test_the_host_name_of_the_binding_counts() -> None:
    node = a_node()
    compare(node, "n1\r\nb1\r\nname=v2\r\n")
    node["binding"]["hostname"] = "web"
    compare(node, "web\nb1\nname=v2\nversion=1\n")
