# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleConnectionFailure
from ansible_collections.sled.fleet.plugins.action.warm import ActionModule
from ansible_collections.sled.fleet.plugins.module_utils import warm_commands
from ansible_collections.sled.fleet.plugins.module_utils.cache import digest_of
from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SettingsError, SledError
from ansible_collections.sled.fleet.tests.unit.double import TICKET, TOKEN, Sledd

MAC = "52:54:00:77:00:01"
PROBED = f"""Welcome
uid=0
arch=x86_64
MemTotal=980000
MemAvailable=800000
loaded=0
disabled=0
lockdown=none
ours=0
tool=mount
tool=umount
tool=sha256sum
tool=systemctl
tool=systemd-run
systemd=252
mac=00:00:00:00:00:00
mac={MAC}
"""


class Node:
    """A running node: what it answers by a word of the command, and what it was sent and given."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, bool]] = []
        self.given: dict[str, bytes] = {}
        self.answers: dict[str, tuple[int, str]] = {"MemTotal": (0, PROBED), "id -u": (0, "1000\n")}
        self.gone_at = ""  # word of the command that it does not survive
        self.resets = 0

    def run(self, command: str, become: bool) -> Json:
        self.sent.append((command, become))
        if self.gone_at and self.gone_at in command:
            raise AnsibleConnectionFailure("the connection was closed")
        for word, (code, text) in self.answers.items():
            if word in command:
                return {"rc": code, "stdout": text if code == 0 else "", "stderr": "" if code == 0 else text}
        return {"rc": 0, "stdout": "", "stderr": ""}

    def put_file(self, local: str, remote: str) -> None:
        if self.gone_at and self.gone_at in remote:
            raise AnsibleConnectionFailure("the copy was closed")
        assert not (Path(local).stat().st_mode & 0o077) or not remote.endswith("/ticket")
        self.given[remote] = Path(local).read_bytes()

    def reset(self) -> None:
        self.resets += 1

    def commands(self, word: str) -> list[str]:
        return [command for command, _ in self.sent if word in command]


class Action(ActionModule):
    def _low_level_execute_command(
        self, cmd: str, sudoable: bool = True, executable: str | None = None, **_: Any
    ) -> Json:
        assert executable == "/bin/sh"
        node: Node = self._connection
        return node.run(cmd, sudoable)


@pytest.fixture
def node() -> Node:
    return Node()


@pytest.fixture
def sledc(tmp_path: Path) -> Path:
    path = tmp_path / "sledc"
    path.write_bytes(b"\x7fELF\x02\x01" + bytes(12) + b"\x3e\x00" + bytes(100))
    return path


@pytest.fixture
def warm(sledd: Sledd, node: Node, sledc: Path, tmp_path: Path) -> Callable[..., Json]:
    """Runs the action for n1, which is declared."""
    sledd.node("n1", 1)
    sledd.files = {"/sled/cloud/vmlinuz": b"kernel", "/sled/cloud/initrd.img": b"initrd"}

    def run(check: bool = False, **options: Any) -> Json:
        arguments = {
            "server": sledd.url,
            "token": TOKEN,
            "cache": str(tmp_path / "cache"),
            "sledc": str(sledc),
            **options,
        }
        task = SimpleNamespace(
            args=arguments, check_mode=check, diff=False, async_val=0, environment=None, action="warm", no_log=False
        )
        action = Action.__new__(Action)
        action._task, action._connection = task, node
        action._cleanup_remote_tmp = False
        result: Json = {}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("ansible.plugins.action.ActionBase.run", lambda *_: {})
            result = action.run(task_vars={"inventory_hostname": "n1"})
        assert TICKET not in str(result) and TOKEN not in str(result)
        assert not any(TICKET in command for command, _ in node.sent)
        return result

    return run


def test_in_order(warm: Callable[..., Json], node: Node, sledd: Sledd) -> None:
    result = warm()
    assert result["changed"] and result["mac"] == MAC and result["end"] == "services stopped, then the jump", result
    assert "/v1/nodes/52%3A54%3A00%3A77%3A00%3A01/boot" in [path for method, path, _ in sledd.asked if method == "POST"]
    assert node.given["/run/sled-warm/vmlinuz"] == b"kernel" and node.given["/run/sled-warm/initrd.img"] == b"initrd"
    assert node.given["/run/sled-warm/arguments"] == b"quiet sled.mac=52:54:00:77:00:01\n"
    assert [path for path, content in node.given.items() if TICKET.encode() in content] == ["/run/sled-warm/ticket"]
    words = ("MemTotal", "id -u", "uid=1000", "sha256sum -c", "sledc load", "--unit=sled-warm")
    asked = [command for command, _ in node.sent]
    assert len(asked) == len(words) and all(word in command for word, command in zip(words, asked, strict=True)), asked
    assert [become for _, become in node.sent] == [True, False, True, True, True, True]
    assert result["kernel_sha256"] in node.commands("sha256sum -c")[0]
    assert node.resets == 1


def test_a_sledd_without_tickets(warm: Callable[..., Json], node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ansible_collections.sled.fleet.tests.unit.double.TICKET", "")
    assert "sledd sent no ticket for the warm start: sledd is older" in warm()["msg"]
    assert not node.given


@pytest.mark.parametrize("behind", [0, 1, 2, 3, 4096])
def test_the_ticket_is_an_archive_behind_the_initrd(tmp_path: Path, behind: int) -> None:
    """As the kernel reads it: each archive starts at a multiple of 4 bytes, after zeros."""
    whole = b"x" * behind + warm_commands.ticket_archive(TICKET, behind)
    start = whole.index(b"070701")
    assert start % 4 == 0 and not whole[behind:start].strip(b"\0") and len(whole) % 4 == 0
    unpack = ["cpio", "-i", "-m", "-d", "--quiet", "--no-absolute-filenames"]
    subprocess.run(unpack, input=whole[start:], cwd=tmp_path, check=True, timeout=20)
    ticket = tmp_path / "etc/sled/ticket"
    assert ticket.read_text() == TICKET + "\n" and ticket.stat().st_mode & 0o7777 == 0o600
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "etc",
        "etc/sled",
        "etc/sled/ticket",
    ]
    listed = subprocess.run(
        ["cpio", "-t", "-v", "-n", "--quiet"], input=whole[start:], capture_output=True, check=True, timeout=20
    )
    assert {line.split()[2:4] == [b"0", b"0"] for line in listed.stdout.splitlines()} == {True}, listed.stdout


def test_the_ticket_is_loaded_and_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_commands, "FOLDER", str(tmp_path))
    (tmp_path / "initrd.img").write_text("initrd")
    (tmp_path / "ticket").write_text(" and ticket")
    (tmp_path / "sledc").write_text(f"#!/bin/sh\ncp {tmp_path}/initrd.img {tmp_path}/loaded\n")
    (tmp_path / "sledc").chmod(0o700)
    assert shell(warm_commands.load()).returncode == 0
    assert (tmp_path / "loaded").read_text() == "initrd and ticket"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loaded", "sledc"]


def test_check_mode_only_asks(warm: Callable[..., Json], node: Node, sledd: Sledd) -> None:
    assert warm(check=True)["changed"]
    assert len(node.sent) == 1 and not node.given
    assert [method for method, _, _ in sledd.asked] == ["GET"]


@pytest.mark.parametrize(
    ("was", "now", "words"),
    [
        ("uid=0", "uid=1000", "set become: true"),
        (f"mac={MAC}", "mac=52:54:00:77:00:02", f"no interface {MAC}: it is another machine"),
        ("arch=x86_64", "arch=aarch64", "is aarch64, the sledc given is for x86_64"),
        ("loaded=0", "loaded=", "has no kexec"),
        ("disabled=0", "disabled=1", "kexec_load_disabled is 1"),
        ("loaded=0", "loaded=1", "not ours is loaded"),
        ("MemTotal=980000", "MemTotal=250000", "244 MiB of memory"),
        ("tool=sha256sum\n", "", "has no sha256sum"),
        (PROBED, "what?", "did not answer"),
    ],
)
def test_refused_before_anything_is_changed(
    warm: Callable[..., Json], node: Node, was: str, now: str, words: str
) -> None:
    node.answers["MemTotal"] = (0, PROBED.replace(was, now))
    result = warm()
    assert result["failed"] and result["msg"].startswith("no warm start: ") and words in result["msg"]
    assert len(node.sent) == 1 and not node.given


def test_refused_by_sledd(warm: Callable[..., Json], node: Node, sledd: Sledd) -> None:
    assert "node n9 does not exist" in warm(node="n9")["msg"]
    sledd.refuse = [409]
    assert warm()["status"] == 409
    assert not node.sent


@pytest.mark.parametrize(
    ("word", "answer", "words"),
    [
        ("sha256sum -c", (1, "x: FAILED"), "cannot prove what was copied by its SHA-256: x: FAILED (code 1)"),
        (
            "sledc load",
            (3, "load: no signature"),
            "cannot load the kernel: load: no signature (code 3) (lockdown: integrity)",
        ),
        ("systemd-run", (1, "denied"), "cannot order the jump: denied"),
    ],
)
def test_a_failure_leaves_the_system_as_it_was(
    warm: Callable[..., Json], node: Node, word: str, answer: tuple[int, str], words: str
) -> None:
    node.answers["MemTotal"] = (0, PROBED.replace("lockdown=none", "lockdown=integrity"))
    node.answers[word] = answer
    result = warm()
    assert result["failed"] and words in result["msg"]
    assert node.sent[-1][0] == warm_commands.drop_folder() and node.resets == 0


def test_too_little_memory_free(warm: Callable[..., Json], node: Node) -> None:
    node.answers["MemTotal"] = (0, PROBED.replace("MemAvailable=800000", "MemAvailable=50000"))
    assert "48 MiB of memory are available, 64 are needed" in warm()["msg"]
    assert not node.given


def test_gone_in_between_is_a_failure(warm: Callable[..., Json], node: Node) -> None:
    node.gone_at = "initrd.img"
    assert "cannot copy initrd.img to the node" in warm()["msg"]
    node.gone_at = "MemTotal"
    assert "cannot ask the running system" in warm()["msg"]


def test_gone_at_the_jump_is_none(warm: Callable[..., Json], node: Node) -> None:
    node.gone_at = "--unit=sled-warm"
    assert warm()["changed"]


@pytest.mark.parametrize(
    ("systemd", "kexec", "end"),
    [
        ("252", True, "systemctl kexec"),
        ("255", False, "systemctl kexec"),
        ("", False, "services stopped as far as known, then the jump"),
    ],
)
def test_how_the_system_ends(warm: Callable[..., Json], node: Node, systemd: str, kexec: bool, end: str) -> None:
    node.answers["MemTotal"] = (
        0,
        PROBED.replace("systemd=252", f"systemd={systemd}") + ("tool=kexec\n" if kexec else ""),
    )
    assert warm()["end"] == end


def test_programs_of_other_kinds(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("#!/bin/sh\n")
    (tmp_path / "arm").write_bytes(b"\x7fELF\x02\x01" + bytes(12) + b"\xb7\x00")
    assert warm_commands.program_arch(str(tmp_path / "arm")) == "aarch64"
    with pytest.raises(SettingsError, match="is not a Linux program"):
        warm_commands.program_arch(str(tmp_path / "script"))
    with pytest.raises(SettingsError, match="make build makes one"):
        warm_commands.program_arch(str(tmp_path / "none"))


def shell(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", text], capture_output=True, text=True, timeout=20, check=False)


def test_the_probe_runs_here() -> None:
    answer = shell(warm_commands.PROBE)
    running = warm_commands.read_probe(answer.stdout)
    assert answer.returncode == 0 and running.uid >= 0 and running.arch and running.total > running.available > 0, (
        answer
    )
    assert running.macs and not running.ours


def test_the_proof_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_commands, "FOLDER", str(tmp_path))
    for name in ("vmlinuz", "sledc", "leave"):
        (tmp_path / name).write_text(name)
    digests = {path.name: digest_of(path) for path in tmp_path.iterdir()}
    text = warm_commands.prove(digests).replace("chown -R 0:0", "ls -d")  # the test's user may not
    assert shell(text).returncode == 0
    assert (tmp_path / "sledc").stat().st_mode & 0o777 == 0o700
    (tmp_path / "vmlinuz").write_text("altered")
    answer = shell(text)
    assert answer.returncode != 0 and "vmlinuz: FAILED" in answer.stderr


def test_the_interface_with_a_carrier_boots(warm: Callable[..., Json], node: Node, sledd: Sledd) -> None:
    other = "52:54:00:77:00:11"
    sledd.objects["nodes"][MAC]["macs"] = ["52:54:00:77:00:12", other]
    node.answers["MemTotal"] = (0, f"{PROBED}mac={other}\nup=00:00:00:00:00:00\nup={other}\n")
    assert warm(check=True)["mac"] == other


@pytest.mark.parametrize(
    ("macs", "up", "boots"),
    [(["a", "b"], [], "a"), (["b"], [], "b"), (["a", "b"], ["b"], "b"), (["c"], ["d"], "a")],
)
def test_interface(macs: list[str], up: list[str], boots: str) -> None:
    assert warm_commands.interface(warm_commands.Running(macs=set(macs), up=set(up)), ["a", "b"]) == boots


def test_judgement_needs_no_names(sledc: Path) -> None:
    running = warm_commands.read_probe(PROBED)
    warm_commands.check(running, MAC, warm_commands.program_arch(str(sledc)))
    running.loaded, running.ours = "1", True  # of an earlier try, which is taken away
    warm_commands.check(running, MAC, "x86_64")
    assert warm_commands.check_room(running, 20 << 20, 6 << 20) == 30 << 20
    with pytest.raises(SledError, match="are available"):
        warm_commands.check_room(running, 400 << 20, 6 << 20)
