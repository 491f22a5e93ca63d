# SPDX-License-Identifier: Apache-2.0
"""A password goes to no address but those that the controller's inventory allows, whatever address sledd has."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.power import driver
from ansible_collections.sled.fleet.plugins.module_utils.power.drivers import DRIVERS
from ansible_collections.sled.fleet.plugins.module_utils.supervise.settings import settings_of
from ansible_collections.sled.fleet.tests.unit.drivers import SECRET, a_driver, kind_of

SENDING = sorted(name for name, one in DRIVERS.items() if not one.local and name not in ("wol", "ssh"))
PIN = "ab" * 32


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, Callable[[], list[str]]]]:
    """Port of a machine on 127.0.0.1 that notes who speaks to it; so does the program ipmitool."""
    said = tmp_path / "said"
    tool = tmp_path / "ipmitool"
    tool.write_text(f'#!/bin/sh\necho "ipmitool $*" >>{said}\n', encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    accepted: list[str] = []

    def accept(listener: socket.socket) -> None:
        while True:
            try:
                one, _ = listener.accept()
            except OSError:
                return
            accepted.append("connection")
            one.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, args=(listener,), daemon=True).start()
        yield (
            listener.getsockname()[1],
            lambda: accepted + (said.read_text(encoding="utf-8").splitlines() if said.exists() else []),
        )
        listener.shutdown(socket.SHUT_RDWR)


def test_which_drivers_send_a_password() -> None:
    assert SENDING == ["amt", "ipmi", "redfish"]


@pytest.mark.parametrize("name", SENDING)
@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "0x7f000001", "2130706433"])
def test_an_address_that_is_not_allowed_gets_nothing(
    stranger: tuple[int, Callable[[], list[str]]], name: str, address: str
) -> None:
    port, heard = stranger
    one = a_driver(driver=name, address=address, port=port, networks=["10.30.0.0/24", "fd00::/64"])
    for verb in (one.status, one.on, one.off, one.reset, lambda: one.bootdev("pxe", "uefi"), one.secret):
        kind, text = kind_of(verb)
        assert kind == "untrusted" and heard() == []
        assert "127.0.0.1" in text and "none of power_networks (10.30.0.0/24, fd00::/64)" in text
        assert "add its network to power_networks" in text and SECRET not in text


@pytest.mark.parametrize("name", SENDING)
def test_without_networks_nothing_is_sent(stranger: tuple[int, Callable[[], list[str]]], name: str) -> None:
    port, heard = stranger
    kind, text = kind_of(a_driver(driver=name, address="127.0.0.1", port=port, networks=[]).status)
    assert (kind, heard()) == ("settings", [])
    assert "set power_networks to the networks of the BMCs, such as [10.30.0.0/24]" in text
    assert ("power_fingerprint" in text) == (name == "redfish")
    kind, text = kind_of(a_driver(driver=name, address="127.0.0.1", port=port, networks=["10.30.0.7/24"]).status)
    assert (kind, heard()) == ("settings", [])
    assert "power_networks: 10.30.0.7/24 has host bits set: want networks such as 10.30.0.0/24" in text


@pytest.mark.parametrize("control", [{"driver": "ipmi"}, {"driver": "amt"}, {"driver": "amt", "port": 80}])
@pytest.mark.parametrize("networks", [[], ["127.0.0.0/8"]])
def test_a_pin_is_not_lost_by_a_driver_without_tls(
    stranger: tuple[int, Callable[[], list[str]]], control: Json, networks: list[str]
) -> None:
    """Neither the driver nor the port, which sledd may have given, takes away what the controller requires."""
    _, heard = stranger
    kind, text = kind_of(a_driver(address="127.0.0.1", fingerprint=PIN, networks=networks, **control).status)
    assert (kind, heard()) == ("settings", [])
    assert "use redfish or port 16993 of amt, or set power_networks in its place" in text
    assert a_driver(driver="amt", port=16993, fingerprint=PIN, networks=[]).destination() == "10.0.0.1"


def test_a_name_is_resolved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that has another address a moment later leads nowhere else."""
    answers = [["192.0.2.9", "10.0.0.7"], ["192.0.2.9"]]
    monkeypatch.setattr(driver, "addresses_of", lambda name: answers.pop(0))
    reached: list[tuple[str, int]] = []

    def connect(address: tuple[str, int], _timeout: float) -> socket.socket:
        reached.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr("socket.create_connection", connect)
    one = a_driver(driver="redfish", address="bmc.example.org")
    assert kind_of(one.status)[0] == "unreachable"
    assert set(reached) == {("10.0.0.7", 443)}


def test_a_name_without_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_name: str) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(driver, "addresses_of", none)
    kind, text = kind_of(a_driver(driver="ipmi", address="bmc.example.org").status)
    assert (kind, text) == ("unreachable", "ipmi bmc.example.org:623: Name or service not known: check address")


def test_a_program_of_the_controller_gets_its_password(tmp_path: Path) -> None:
    file = tmp_path / "password"
    commands = {"on": ["sh", "-c", f'echo "$SLED_PASSWORD" >{file}']}
    a_driver(driver="command", commands=commands, networks=[]).on()
    assert file.read_text(encoding="utf-8") == f"{SECRET}\n"


def test_the_supervisor_refuses_the_same(stranger: tuple[int, Callable[[], list[str]]]) -> None:
    port, heard = stranger
    variables = {"power_driver": "ipmi", "power_address": "127.0.0.1", "power_port": port, "power_username": "sled"}
    variables |= {"power_password": SECRET, "power_networks": ["10.30.0.0/24"]}
    (control,) = settings_of("n1", variables.get).controls
    assert kind_of(a_driver(**control).status)[0] == "untrusted" and heard() == []
