# SPDX-License-Identifier: Apache-2.0
"""The actions of the supervisor, against a double of sledd, programs that are power controls, and a double of ssh."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SettingsError, SledError
from ansible_collections.sled.fleet.plugins.module_utils.supervise.actions import Actions, Sessions, Tools
from ansible_collections.sled.fleet.plugins.module_utils.supervise.core import Action, Method, Policy
from ansible_collections.sled.fleet.plugins.module_utils.supervise.login import Login, SshShell
from ansible_collections.sled.fleet.plugins.module_utils.supervise.loop import Ended
from ansible_collections.sled.fleet.plugins.module_utils.supervise.runtime import RealRuntime
from ansible_collections.sled.fleet.plugins.module_utils.supervise.settings import Settings
from ansible_collections.sled.fleet.plugins.module_utils.warm_start import Gone
from ansible_collections.sled.fleet.tests.unit.double import TOKEN, Sledd

MAC = "52:54:00:77:00:01"
POLICY = Policy(methods={name: Method(300) for name in ("idle", "warm", "power", "wol", "manual")}, silent={"any": 1.0})


class Bench:
    """Node n1 with a power control that is a file, and what was said and waited for."""

    def __init__(self, sledd: Sledd, folder: Path) -> None:
        self.sledd, self.file, self.said, self.waited = sledd, folder / "state", list[str](), list[float]()
        self.file.write_text("on\n", encoding="ascii")
        sledd.node("n1", 1, phase="operational")
        sledd.admissions[MAC] = {"mac": MAC, "state": "none"}
        options = {"server": sledd.url, "token": TOKEN, "token_file": None, "ca_file": None}
        self.clock = 0.0
        self.client = Client(sledd.url, TOKEN, timeout=60)
        self.read = self.client.find("nodes", "n1") or {}
        sledd.asked.clear()
        tools = Tools(self.client, options, self.said.append, str(folder), lambda: self.clock, self.pause)
        self.actions = Actions(tools)
        verbs = {
            verb: ["sh", "-c", f"echo {verb} >>{folder}/verbs; echo {verb} >{self.file}"] for verb in ("on", "off")
        }
        verbs |= {"status": ["cat", str(self.file)], "bootdev": ["sh", "-c", f'echo "bootdev $0" >>{folder}/verbs']}
        self.control: Json = {"driver": "command", "commands": verbs}
        self.verbs = folder / "verbs"
        self.node = Settings("n1", "n1", POLICY, controls=(self.control,))

    def do(self, settings: Settings, actions: list[Action]) -> str:
        self.acted = self.actions.carry_out(settings, actions, self.read)
        return self.acted.reason

    def pause(self, seconds: float) -> None:
        self.clock += seconds
        self.waited.append(seconds)

    def asked(self, what: str) -> list[Json]:
        return [body for method, path, body in self.sledd.asked if method == "POST" and path.endswith(what)]


@pytest.fixture
def bench(sledd: Sledd, tmp_path: Path) -> Iterator[Bench]:
    """A bench whose client is closed: a cycle of references holds it, and Python warns of a socket in one."""
    bench = Bench(sledd, tmp_path)
    yield bench
    bench.client.close()


def test_one_network_boot(bench: Bench) -> None:
    reason = bench.do(bench.node, [Action("note", "power", "power"), Action("enter", "power")])
    assert (reason, bench.said) == ("", [])
    assert bench.verbs.read_text(encoding="ascii").splitlines() == ["bootdev pxe", "off", "bootdev pxe", "on"]
    events = [(body["kind"], body["detail"]) for body in bench.asked("/events")]
    assert events == [("entry", "power")], "recorded before it is done"
    boot = {"by": "power", "seconds": 300, "sled_only": True, "revoke": True, "power": "boot"}
    assert bench.asked("/expect") == [boot], "the power event, too"


@pytest.mark.parametrize(("passed", "read"), [(0.9, 0), (1.0, 1)])
def test_a_choice_by_the_power_state_holds_for_a_second(bench: Bench, passed: float, read: int) -> None:
    status = ["sh", "-c", f"echo status >>{bench.verbs}; cat {bench.file}"]
    commands = {**bench.control["commands"], "status": status}
    bench.file.write_text("off\n", encoding="ascii")
    node = replace(bench.node, controls=({**bench.control, "commands": commands},))
    assert bench.actions.power(node) == "off"
    bench.verbs.unlink()
    bench.clock += passed
    assert bench.do(node, [Action("enter", "power")]) == ""
    assert bench.verbs.read_text(encoding="ascii").splitlines() == ["status"] * read + ["bootdev pxe", "on", "status"]


def test_a_control_that_fails_is_the_reason(bench: Bench) -> None:
    broken = replace(bench.node, controls=({**bench.control, "commands": {"on": ["false"], "off": ["false"]}},))
    reason = bench.do(broken, [Action("enter", "power"), Action("note", "power", "not reached")])
    assert reason.startswith("n1: ") and "bootdev" in reason and not bench.acted.final
    untrusted = {
        "driver": "redfish",
        "address": "192.0.2.1",
        "username": "u",
        "password": "p",
        "networks": ["10.0.0.0/8"],
    }
    assert "192.0.2.1" in bench.do(replace(bench.node, controls=(untrusted,)), [Action("enter", "power")])
    assert bench.acted.final
    assert bench.asked("/events") == []
    assert bench.actions.power(broken) == "unknown"
    assert bench.actions.power(bench.node) == "on"
    assert bench.actions.power(replace(bench.node, controls=())) == "unknown"


def test_a_system_that_did_not_confirm_starts_from_its_disk(bench: Bench) -> None:
    bench.sledd.console = "Kernel panic"
    assert bench.do(bench.node, [Action("disk", detail="it did not confirm")]) == ""
    first = bench.asked("/events")[0]
    assert first == {"kind": "fallback", "detail": "it did not confirm", "log": "Kernel panic"}
    assert bench.verbs.read_text(encoding="ascii").splitlines() == ["bootdev disk", "off", "bootdev disk", "on"]
    assert bench.asked("/expect") == [], "nobody is expected from a disk"


def test_what_runs_from_memory_starts_from_the_network(bench: Bench) -> None:
    assert bench.do(bench.node, [Action("network", detail="it did not confirm")]) == ""
    assert bench.asked("/events")[0]["kind"] == "fallback"
    assert "bootdev disk" not in bench.verbs.read_text(encoding="ascii")
    assert [body["by"] for body in bench.asked("/expect")] == ["power"]


def test_an_event_waits_for_sledd(bench: Bench) -> None:
    bench.sledd.refuse = [503, 502, 429]
    assert bench.do(bench.node, [Action("note", "idle", "idle"), Action("enter", "idle")]) == ""
    assert bench.waited == [5.0, 5.0, 5.0]
    assert len(bench.asked("/events")) == 4
    bench.sledd.refuse = [503] * 1000
    assert "503" in bench.do(bench.node, [Action("note", "power", "power"), Action("enter", "power")])
    assert not bench.verbs.exists(), "what cannot be recorded is not done"
    bench.sledd.refuse = [403]
    assert "403" in bench.do(bench.node, [Action("note", "power", "power")])


def test_a_node_that_is_lost_and_one_that_is_not(bench: Bench) -> None:
    bench.sledd.refuse = [404, 409]  # the console, then the event
    assert bench.do(bench.node, [Action("lost", detail="gone")]) == ""
    bench.sledd.refuse = [404, 400]
    assert "400" in bench.do(bench.node, [Action("lost", detail="gone")])


def test_the_end_of_a_node_is_reported_to_its_rollout(bench: Bench) -> None:
    bench.client.start_rollout({"desired": "v2", "nodes": ["n1"]}, "reimage")
    bench.client.put_runs("reimage-1", [{"node": "n1", "state": "running"}])
    done, failed = Action("end", "power"), Action("end", "power", "write: code 5")
    first = len(bench.sledd.asked)
    hooked = replace(bench.node, rollout="reimage-1", last=False)
    assert bench.do(bench.node, [done]) == bench.do(hooked, [done]) == ""
    assert bench.sledd.asked[first:] == [], "no rollout, and a hook that is to run"
    assert bench.do(hooked, [failed]) == ""
    assert bench.do(replace(hooked, last=True), [done]) == ""
    assert [body["items"] for _, _, body in bench.sledd.asked[first:]] == [
        [{"node": "n1", "state": "failed", "entry_method": "power", "reason": "write: code 5"}],
        [{"node": "n1", "state": "done", "entry_method": "power"}],
    ]
    bench.sledd.refuse = [409]
    assert bench.do(replace(hooked, last=True), [done]) == ""
    assert "n1: its end was not reported to rollout reimage-1" in bench.said[0]


def test_a_person_is_told_what_to_do(bench: Bench) -> None:
    assert bench.do(bench.node, [Action("enter", "manual")]) == ""
    (text,) = bench.said
    assert text.startswith(f"n1 ({MAC}): start it from the network, by hand, within 300 s. ")
    assert bench.asked("/expect") == [{"by": "manual", "seconds": 300, "sled_only": True}]


def test_a_person_resets_a_machine_that_changes_hands(bench: Bench) -> None:
    bench.read["binding"] = {"generation": 2, "image": "v1", "hands_over": True}
    assert bench.do(bench.node, [Action("enter", "manual")]) == ""
    (text,) = bench.said
    assert text.startswith(
        f"n1 ({MAC}) changes hands: switch it off by hand, run `sledctl admit n1 --within 15m --reset`"
    )
    assert bench.asked("/expect") == [], "only a person knows that it was reset"


def test_nodes_of_one_bmc_wait_for_each_other() -> None:
    sessions = Sessions()

    def lock(name: str, **control: object) -> object:
        return sessions.of(Settings(name, name, POLICY, controls=({"driver": "redfish", **control},)))

    chassis = {"address": "10.0.0.1", "port": 443}
    assert lock("n1", **chassis, system="1") is lock("n2", **chassis, system="2")
    assert lock("n1", **chassis) is not lock("n3", address="10.0.0.2", port=443)
    assert lock("n1") is not lock("n2") and lock("n1") is lock("n1"), "programs have no address"


SSH = """#!/bin/sh
for last; do :; done
echo "$@" >>{folder}/calls
case $* in *"-O exit"*) exit 0;; *hostname*) echo n1; exit 0;; *fails*) echo no such luck >&2; exit 3;; esac
case $* in *gone*) echo "no route to host" >&2; exit 255;; *"cat >"*) cat >{folder}/given; exit 0;; esac
"""


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., SshShell]:
    """A shell whose ssh is a script; it keeps its calls and what it was given."""
    program = tmp_path / "ssh"
    program.write_text(SSH.format(folder=tmp_path), encoding="ascii")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return lambda **options: SshShell(Login("10.0.0.9", **options))


def test_the_shell_of_a_node(ssh: Callable[..., SshShell], tmp_path: Path) -> None:
    shell = ssh(user="ops", become=True, arguments=("-o", "StrictHostKeyChecking=yes"))
    assert shell.run("hostname", "ask its name") == "n1\n"
    assert shell.run("hostname", "ask its name", become=False) == "n1\n"
    (tmp_path / "file").write_bytes(b"\0kernel")
    shell.put(str(tmp_path / "file"), "vmlinuz")
    shell.close()
    assert (tmp_path / "given").read_bytes() == b"\0kernel"
    first, second, copied, left = (tmp_path / "calls").read_text(encoding="ascii").splitlines()
    assert "StrictHostKeyChecking=yes" in first and "BatchMode=yes" in first and "-l ops" in first
    assert first.endswith("-- 10.0.0.9 sudo -n /bin/sh -c hostname")
    assert second.endswith("-- 10.0.0.9 /bin/sh -c hostname")
    assert copied.endswith("umask 077; cat >/run/sled-warm/vmlinuz") and left.endswith("-O exit -- 10.0.0.9")


def test_a_shell_that_fails_and_one_that_is_gone(ssh: Callable[..., SshShell], monkeypatch: pytest.MonkeyPatch) -> None:
    shell = ssh()
    with pytest.raises(SledError, match=r"cannot load the kernel: no such luck \(code 3\)") as failed:
        shell.run("fails", "load the kernel")
    assert not isinstance(failed.value, Gone)
    with pytest.raises(Gone, match="cannot load the kernel: no route to host"):
        shell.run("gone", "load the kernel")
    with pytest.raises(Gone, match="cannot copy gone to the node: no route to host"):
        shell.put("/dev/null", "gone")
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(SettingsError, match="ssh cannot be run"):
        shell.run("hostname", "ask its name")


def test_a_fault_of_an_act_ends_its_job(bench: Bench) -> None:
    """Else the wave would wait for it without end."""
    runtime = RealRuntime(bench.client, bench.actions)
    runtime.start(bench.node, [Action("dance")])
    runtime.start(bench.node, [Action("enter", "idle")])
    runtime.start(bench.node, [])
    ended: list[Ended] = []
    deadline = time.monotonic() + 60
    while len(ended) < 3 and time.monotonic() < deadline:
        ended += runtime.wait(1)
    assert [(one.reason, one.power, one.awaited) for one in ended] == [
        ("KeyError: 'dance'", "", False),
        ("", "", True),
        ("", "on", False),
    ]


def test_many_nodes_are_read_as_a_list(bench: Bench) -> None:
    for number in range(2, 13):
        bench.sledd.node(f"n{number}", number)
    runtime = RealRuntime(bench.client, bench.actions)
    names = [f"n{number}" for number in range(1, 12)] + ["52-54-00-77-00-0C", "n99"]
    assert sorted(runtime.read(names)) == sorted(names[:-1])
    single = [path for _, path, _ in bench.sledd.asked if path.startswith("/v1/nodes/")]
    assert single == ["/v1/nodes/n99"], "what a list lacks is asked for: a page is no proof"
    bench.sledd.asked.clear()
    assert list(runtime.read(["n1", "n99"])) == ["n1"]
    assert len(bench.sledd.asked) == 2


def test_an_event_of_a_node_wakes_the_wave(bench: Bench) -> None:
    runtime = RealRuntime(bench.client, bench.actions)
    runtime.read(["n1"])
    threading.Timer(0, runtime._hear, [MAC]).start()
    assert runtime.wait(60) == [] and runtime.moved() and not runtime.moved()
    runtime._hear("52:54:00:99:00:99")
    assert not runtime.moved(), "a node of another wave"


def test_it_ends_with_its_playbook(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker of Ansible outlives a playbook that is killed; the next run must be the only one that acts."""
    runtime = RealRuntime(bench.client, bench.actions)
    assert runtime.wait(0) == []
    monkeypatch.setattr("os.getppid", lambda: 1)
    with pytest.raises(SledError, match="the playbook that supervises has ended"):
        runtime.wait(0)
