# SPDX-License-Identifier: Apache-2.0
"""tools/figures and lab/cpu: the arithmetic of what a stage of tests cost."""

import os
import subprocess
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]
TICK = os.sysconf("SC_CLK_TCK")


class Machine:
    """A machine of files: what the kernel would say in /proc and in its control groups."""

    def __init__(self, folder: Path, version: int) -> None:
        self.version, self.proc, self.groups = version, folder / "proc", folder / "cgroup"
        self.proc.mkdir()
        self.hierarchy = self.groups / ("cpuacct" if version == 1 else "unified")
        self.hierarchy.mkdir(parents=True)
        (self.hierarchy / ("cpuacct.usage" if version == 1 else "cgroup.procs")).touch()

    def uses(self, group: str, seconds: float) -> None:
        folder = self.hierarchy / group
        folder.mkdir(parents=True, exist_ok=True)
        if self.version == 1:
            (folder / "cpuacct.usage").write_text(f"{seconds * 1e9:.0f}\n")
        else:
            (folder / "cpu.stat").write_text(f"usage_usec {seconds * 1e6:.0f}\nuser_usec 1\n")

    def counts(self, wall: float, *columns: float) -> None:
        """`columns`: seconds of user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice."""
        (self.proc / "uptime").write_text(f"{wall:.2f} 1.00\n")
        words = " ".join(f"{seconds * TICK:.0f}" for seconds in columns)
        (self.proc / "stat").write_text(f"cpu  {words}\ncpu0 {words}\nintr 1\n")

    def run(self, *words: str) -> str:
        where = {"SLED_PROC": str(self.proc), "SLED_CGROUPS": str(self.groups)}
        return subprocess.check_output([TREE / "tools/figures", *words], env=os.environ | where, text=True)


@pytest.fixture(params=[1, 2])
def machine(tmp_path: Path, request: pytest.FixtureRequest) -> Machine:
    return Machine(tmp_path, request.param)


def row(machine: Machine, stage: str) -> list[str]:
    """Two snapshots, 100 s of wall time apart, and the row between them."""
    machine.counts(1000, 500, 10, 40, 300, 5, 1, 2, 3, 77, 0)
    before = machine.run("now", stage).strip()
    machine.uses("sled-machines", 70.5)
    machine.uses("sled-nspawn", 4)
    machine.uses("sled-stages/7", 36)
    machine.counts(1100, 610, 20, 60, 345, 10, 2, 3, 7, 99, 0)
    return machine.run("row", "test-lab+test-api", before, machine.run("now", stage).strip()).split()


def test_row(machine: Machine) -> None:
    machine.uses("sled-machines", 10)
    machine.uses("sled-stages/7", 6)
    # Of 196 s of two processors 50 were idle, 60.5 QEMU's, 34 the stage's with its container, and 51.5 nobody's here.
    assert row(machine, "sled-stages/7") == ["test-lab+test-api", "100", "60", "34", "52", "50"]


def test_groups_that_were_not_there_used_nothing(machine: Machine) -> None:
    assert row(machine, "sled-stages/7") == ["test-lab+test-api", "100", "70", "40", "36", "50"]


def test_without_control_groups_all_of_the_machine_is_shown(machine: Machine) -> None:
    assert row(machine, "-") == ["test-lab+test-api", "100", "-", "-", "146", "50"]


def test_head_and_row_have_the_same_columns(machine: Machine) -> None:
    machine.counts(1, *[1] * 10)
    now = machine.run("now", "-").strip()
    for name in ("x", "test-lab+" * 9):
        assert len(machine.run("head").rstrip()) == len(machine.run("row", name, now, now).rstrip())


def test_a_command_runs_where_no_group_can_be_made(tmp_path: Path) -> None:
    where = os.environ | {"SLED_CGROUPS": str(tmp_path)}
    done = subprocess.run(
        [TREE / "lab/cpu", "run", "a/b", "echo", "ran"], env=where, capture_output=True, text=True, check=True
    )
    assert done.stdout == "ran\n"
    assert "no control group" in done.stderr
    assert subprocess.run([TREE / "lab/cpu", "hold", "a"], env=where, check=False).returncode == 3


def test_a_group_stays_as_long_as_somebody_holds_it(tmp_path: Path) -> None:
    """tools/stages may run inside tools/stages, as in the tests of this folder."""
    (tmp_path / "cgroup.procs").touch()
    where = os.environ | {"SLED_CGROUPS": str(tmp_path)}
    cpu = str(TREE / "lab/cpu")
    subprocess.run([cpu, "hold", "a"], env=where, check=True)
    subprocess.run(["sh", "-ec", '"$0" hold a; "$0" drop a', cpu], env=where, check=True)
    assert (tmp_path / "a").is_dir()
    subprocess.run([cpu, "drop", "a"], env=where, check=True)
    assert not (tmp_path / "a").exists()
