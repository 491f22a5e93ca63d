# SPDX-License-Identifier: Apache-2.0
"""The drivers that run programs or send packets, against programs that answer as real ones do."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.power import ipmi, wol
from ansible_collections.sled.fleet.plugins.module_utils.power.driver import ON, UNKNOWN
from ansible_collections.sled.fleet.plugins.module_utils.power.drivers import DRIVERS
from ansible_collections.sled.fleet.tests.unit.drivers import SECRET, a_driver, kind_of

Program = Callable[[str, str], None]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Puts a program in front of PATH; it writes its arguments to the file said."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def make_one(name: str, body: str) -> None:
        file = tmp_path / name
        file.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/said\n{body}\n', encoding="utf-8")
        file.chmod(0o755)

    return make_one


def test_ipmi_gives_the_password_by_a_pipe(program: Program, tmp_path: Path) -> None:
    program(
        "ipmitool",
        f"""
for word; do case $word in /dev/fd/*) cat "$word" >{tmp_path}/password ;; esac; done
env >{tmp_path}/environment; echo Chassis Power is on""",
    )
    assert a_driver(driver="ipmi", cipher_suite=3, port=6230).status() == ON
    a_driver(driver="ipmi").bootdev("pxe", "uefi")
    a_driver(driver="ipmi").bootdev("disk", "")
    said = (tmp_path / "said").read_text(encoding="utf-8").splitlines()
    assert said[0].startswith("-v -I lanplus -C 3 -N 2 -R 3 -H 10.0.0.1 -p 6230 -U sled -f /dev/fd/")
    assert said[0].endswith(" chassis power status")
    assert said[1].endswith(" chassis bootdev pxe options=efiboot")
    assert said[2].endswith(" chassis bootparam get 5")
    assert said[3].endswith(" chassis bootdev disk")
    assert (tmp_path / "password").read_text(encoding="utf-8") == f"{SECRET}\n"
    for name in ("said", "environment"):
        assert SECRET not in (tmp_path / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("get", "kind"),
    [
        ("echo Boot Device Selector : No override", "lied"),
        ("echo Boot Flag Invalid; echo Boot Device Selector : Force PXE", ""),
        ("echo Boot Flag Valid; echo Boot Device Selector : Force PXE", ""),
        ("exit 1", ""),
        ("echo Node busy; exit 1", "busy"),
    ],
)
def test_ipmi_reads_the_flag_back(program: Program, get: str, kind: str) -> None:
    program("ipmitool", f"case $* in *bootparam*) {get} ;; esac")
    driver = a_driver(driver="ipmi")
    if kind:
        assert kind_of(lambda: driver.bootdev("pxe", "uefi"))[0] == kind
    else:
        driver.bootdev("pxe", "uefi")


@pytest.mark.parametrize(
    ("says", "kind", "words"),
    [
        (
            "> RAKP 2 HMAC is invalid",
            "credentials",
            "user 'sled' or the password is not accepted (hmac is invalid): check username and password",
        ),
        ("RAKP 2 message indicates an error : unauthorized name", "credentials", "(unauthorized name)"),
        (
            "Error in open session response message : invalid authentication algorithm",
            "refused",
            "no cipher suite 17: try cipher_suite 3",
        ),
        ("This BMC does not support IPMI v2 / RMCP+", "refused", "does not speak IPMI 2.0"),
        (
            "Error issuing Get Channel Authentication Capabilities request\nGet Auth Capabilities error",
            "unreachable",
            "check address and port",
        ),
        ("Address lookup for 10.0.0.1 failed\nCould not open socket!", "unreachable", "no response"),
        (
            "Set Chassis Power Control to Up/On failed: Invalid command",
            "refused",
            "it refuses chassis power on: Set Chassis Power Control",
        ),
        (
            "Set Chassis Power Control to Up/On failed: Node busy",
            "busy",
            "chassis power on now (node busy)",
        ),
        (
            "> Error: no response from RAKP 1 message\nSet Session failed: Insufficient privilege level",
            "busy",
            "(no response from rakp)",
        ),
        (
            "Error in open session: insufficient resources for session",
            "busy",
            "insufficient resources",
        ),
    ],
)
def test_ipmi_says_why(program: Program, says: str, kind: str, words: str) -> None:
    program("ipmitool", f"echo '{says}' >&2; exit 1")
    found, text = kind_of(a_driver(driver="ipmi").on)
    assert found == kind
    assert text.startswith("ipmi 10.0.0.1:623: ")
    assert words in text


def test_ipmi_without_what_it_needs(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    program("ipmitool", "echo perhaps")
    assert "want on or off" in kind_of(a_driver(driver="ipmi").status)[1]
    assert kind_of(a_driver(driver="ipmi", username="").status) == (
        "settings",
        "ipmi 10.0.0.1:623: the driver ipmi needs username",
    )
    monkeypatch.setenv("PATH", "/nowhere")
    assert "program ipmitool is missing" in kind_of(a_driver(driver="ipmi").status)[1]
    assert set(ipmi.Ipmi.verbs) == {"on", "off", "reset", "status", "bootdev", "watts"}


def test_command(program: Program, tmp_path: Path) -> None:
    program(
        "pdu",
        f'echo "$SLED_NODE $SLED_VERB $SLED_DEVICE $SLED_FIRMWARE $SLED_PASSWORD" >>{tmp_path}/environment\n'
        'echo " ON "',
    )
    verbs: Json = {"True": ["pdu", 7, "up"], "off": ["pdu", "down"], "status": ["pdu"], "bootdev": ["pdu", "boot"]}
    driver = a_driver(driver="command", commands=verbs)
    assert [verb for verb in ("on", "off", "cycle", "reset", "status", "bootdev") if driver.can(verb)] == [
        "on",
        "off",
        "status",
        "bootdev",
    ]
    driver.on()
    driver.bootdev("pxe", "uefi")
    assert driver.status() == ON
    assert (tmp_path / "said").read_text(encoding="utf-8").splitlines() == ["7 up", "boot pxe", ""]
    assert (tmp_path / "environment").read_text(encoding="utf-8").splitlines()[:2] == [
        f"n1 on   {SECRET}",
        f"n1 bootdev pxe uefi {SECRET}",
    ]


@pytest.mark.parametrize(("code", "kind"), [(1, "refused"), (69, "unreachable"), (77, "credentials")])
def test_command_that_fails(program: Program, code: int, kind: str) -> None:
    program("pdu", f"echo first >&2; echo socket 7 is locked >&2; exit {code}")
    found, text = kind_of(a_driver(driver="command", commands={"on": ["pdu"]}).on)
    assert (found, text) == (kind, f"command 10.0.0.1: pdu ended with code {code} for on: socket 7 is locked")


@pytest.mark.parametrize(
    ("commands", "words"),
    [
        ({}, "needs commands"),
        ({"up": ["pdu"]}, "'up' is not a verb: want on, off"),
        ({"on": "pdu up"}, "want a list of words, the program first, not 'pdu up'"),
        ({"on": []}, "want a list of words"),
    ],
)
def test_commands_that_cannot_work(commands: Json, words: str) -> None:
    kind, text = kind_of(lambda: a_driver(driver="command", commands=commands))
    assert kind == "settings"
    assert words in text


def test_command_that_hangs_and_status_that_says_nothing(program: Program) -> None:
    program("pdu", "exec sleep 30")
    assert kind_of(a_driver(driver="command", commands={"on": ["pdu"]}, timeout=0.2).on)[0] == "unreachable"
    program("pdu", "echo perhaps")
    assert (
        "pdu prints 'perhaps' for status: want on or off"
        in kind_of(a_driver(driver="command", commands={"status": ["pdu"]}).status)[1]
    )


def test_ssh(program: Program, tmp_path: Path) -> None:
    program("ssh", "echo 1234-boot")
    driver = a_driver(driver="ssh", username="debian", key_file="/k", ssh_arguments=["-o", "StrictHostKeyChecking=no"])
    assert driver.status() == ON
    assert driver.mark() == "1234-boot"
    driver.off()
    said = (tmp_path / "said").read_text(encoding="utf-8").splitlines()
    assert said[0].startswith(
        "-o BatchMode=yes -o ConnectTimeout=10 -o StrictHostKeyChecking=no -l debian -i /k -- 10.0.0.1 cat /proc/"
    )
    assert "sudo -n systemd-run --quiet --on-active=1 systemctl poweroff" in said[-1]
    a_driver(driver="ssh", username="root").reset()
    assert (
        "then systemd-run --quiet --on-active=1 systemctl reboot"
        in (tmp_path / "said").read_text(encoding="utf-8").splitlines()[-1]
    )


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("echo 'ssh: connect to host 10.0.0.1 port 22: No route to host' >&2; exit 255", "unreachable"),
        ("echo 'debian@10.0.0.1: Permission denied (publickey).' >&2; exit 255", "credentials"),
        ("echo 'sudo: a password is required' >&2; exit 1", "refused"),
    ],
)
def test_ssh_says_why(program: Program, body: str, kind: str) -> None:
    program("ssh", body)
    driver = a_driver(driver="ssh")
    assert driver.status() == UNKNOWN
    assert kind_of(driver.off)[0] == kind


def test_wol_packet() -> None:
    packet = wol.magic("52-54-00-77-00-01")
    assert packet == b"\xff" * 6 + b"\x52\x54\x00\x77\x00\x01" * 16
    framed = wol.frame("52:54:00:77:00:01", b"\x02" * 6)
    assert framed == b"\xff" * 6 + b"\x02" * 6 + b"\x08\x42" + packet
    assert kind_of(a_driver(driver="wol", mac="52:54").on)[0] == "settings"
    further = a_driver(driver="wol", mac="52:54:00:77:00:01", macs=["52:54"])
    assert "mac '52:54'" in kind_of(further.on)[1]
    assert kind_of(a_driver(driver="wol").on) == ("settings", "wol  by 10.0.0.1: the driver wol needs mac")


def test_wol_wakes_every_interface() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.settimeout(10)
        port = listener.getsockname()[1]
        macs = ["52:54:00:77:00:01", "52:54:00:77:00:02"]
        driver = a_driver(driver="wol", address="127.0.0.1", port=port, mac=macs[0], macs=macs[1:])
        driver.on()
        assert {listener.recv(200) for _ in range(2 * wol.TIMES)} == {wol.magic(mac) for mac in macs}
    assert driver.where == "wol 52:54:00:77:00:01,52:54:00:77:00:02 by 127.0.0.1"


def test_an_unknown_driver_is_named_beside_the_known_ones() -> None:
    with pytest.raises(SledError, match=r"n1: unknown power driver telnet: known are amt, command, "):
        a_driver(driver="telnet")


def test_every_driver_of_the_folder_is_known() -> None:
    folder = Path(__file__).resolve().parents[2] / "plugins/module_utils/power"
    text = "".join(file.read_text(encoding="utf-8") for file in folder.glob("*.py"))
    found = re.findall(r'^    name: ClassVar\[str\] = "([a-z0-9_]+)"', text, re.M)
    assert sorted(found) == sorted(DRIVERS)
