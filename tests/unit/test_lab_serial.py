# SPDX-License-Identifier: Apache-2.0
"""lab/serial, the line between a machine of the lab and its BMC, stays while the machine is off."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.sled.fleet.tests.unit.front import free_port

PROGRAM = Path(__file__).parents[2] / "lab/serial"
DEADLINE = 30.0  # seconds


class Line:
    """The program, and what connects to it."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
            ready.settimeout(DEADLINE)
            ready.bind(str(folder / "ready"))
            environment = os.environ | {"NOTIFY_SOCKET": str(folder / "ready")}
            self.process = subprocess.Popen([str(PROGRAM), str(self.port)], cwd=folder, env=environment)
            assert ready.recv(100) == b"READY=1"
        self.path = str(folder / "serial")

    def bmc(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), DEADLINE)

    def machine(self) -> socket.socket:
        machine = socket.socket(socket.AF_UNIX)
        machine.settimeout(DEADLINE)
        machine.connect(self.path)
        return machine


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Line]:
    started = Line(tmp_path)
    yield started
    started.process.terminate()
    started.process.wait(DEADLINE)


def until(end: socket.socket, text: bytes) -> None:
    """Reads up to a text."""
    data = b""
    while text not in data:
        part = end.recv(4096)
        assert part, f"{text!r} did not come: {data!r}"
        data += part


def join(machine: socket.socket, bmc: socket.socket) -> None:
    """Waits until both are the ends of the line: what is sent before is lost."""
    bmc.settimeout(0.1)
    while True:
        machine.sendall(b".")
        try:
            assert bmc.recv(1)
            break
        except TimeoutError:
            continue
    bmc.settimeout(DEADLINE)


def test_a_bmc_keeps_the_line_over_power_cycles(line: Line) -> None:
    with line.bmc() as bmc:
        with line.machine() as machine:
            join(machine, bmc)
            machine.sendall(b"login: ")
            until(bmc, b"login: ")
            bmc.sendall(b"root")
            until(machine, b"root")
        for number in range(3):
            with line.machine() as machine:
                machine.sendall(b"first byte of boot %d" % number)
                until(bmc, b"first byte of boot %d" % number)


def test_a_machine_is_not_held_up_without_a_bmc(line: Line) -> None:
    with line.machine() as machine:
        machine.sendall(b"x" * 4_000_000)
        with line.bmc() as bmc:
            join(machine, bmc)


def test_a_bmc_that_starts_again_gets_the_line(line: Line) -> None:
    with line.machine() as machine:
        for _ in range(2):
            with line.bmc() as bmc:
                join(machine, bmc)
                bmc.sendall(b"echo")
                until(machine, b"echo")
