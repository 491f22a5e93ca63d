# SPDX-License-Identifier: Apache-2.0
"""The step layout on a machine of files: one partition on a blank disk, made once, and what would cost a disk refused
without a byte changed.

Prints TAP.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import members
import tap
from machine_of_files import Machine
from members import MIB
from program import for_tests

SIZE = 24 * MIB
ARRAY, FOREIGN = b"0123456789abcdef", b"PARTITION-OF-IT!"
ID, OTHER = "0b5f6c1e-7a54-8c1f-9a55-1f3a0b8f6f5e", "0b5f6c1e-7a54-8c1f-9a55-1f3a0b8f6f5f"
LUN = "5000c50000000020"
SLEDC = for_tests()


def step(selector: str, name: str = "logs", guid: str = ID, more: str = "") -> str:
    return f"layout disk={selector} name={name} id={guid} mount=/srv/{name}{more}"


def blank(m: Machine, name: str) -> None:
    """As it comes from the factory."""
    path = m.root / "dev" / name
    path.write_bytes(b"")
    with path.open("r+b") as file:
        file.truncate(SIZE)


def machine(work: str) -> Machine:
    """A system disk, and disks of each kind."""
    m = Machine(Path(work), SLEDC)
    m.scsi("sda", "SYS", "M", "5000c50000000001", members.gpt(SIZE, (2048, 4095, "root", FOREIGN)), size=SIZE)
    for i, name in enumerate(("sdb", "sdc", "sdd"), 2):
        m.scsi(name, f"BLANK-{name}", "BLANK", f"5000c5000000000{i}", size=SIZE)
        blank(m, name)
    m.scsi("sde", "FULL", "M", "5000c50000000005", size=SIZE)
    m.scsi("sdf", "MEMBER", "M", "5000c50000000006", size=SIZE)
    blank(m, "sdf")
    with (m.root / "dev/sdf").open("r+b") as file:
        at, data = members.md(ARRAY, SIZE)
        file.seek(at)
        file.write(data)
    for name in ("sdg", "sdh"):
        m.scsi(name, "TWIN", "M", LUN, size=SIZE)
        blank(m, name)
    mounted = m.scsi("sdi", "MOUNT", "M", "5000c50000000009", size=SIZE)
    blank(m, "sdi")
    with (m.root / "proc/self/mountinfo").open("a") as file:
        file.write(f"30 22 {(mounted / 'dev').read_text().strip()} / /srv rw - ext4 /dev/sdi rw\n")
    return m


def refuse(m: Machine, code: int, words: str, line: str) -> None:
    before = m.hashes()
    done = m.plan(line)
    assert done.returncode == code and words in done.stderr, f"code {done.returncode}: {done.stderr}"
    assert m.hashes() == before, f"{line} changed a disk"


def make(m: Machine, line: str, *names: str) -> str:
    """These disks are changed, and no others. Returns what it printed."""
    before = m.hashes()
    done = m.plan(line)
    assert done.returncode == 0, f"code {done.returncode}: {done.stderr}"
    changed = sorted(name for name, digest in m.hashes().items() if digest != before[name])
    assert changed == sorted(names), f"changed: {changed}"
    return done.stdout.strip()


def on_machine(part: Callable[[Machine], None]) -> None:
    with tempfile.TemporaryDirectory() as work:
        part(machine(work))


def refusals(m: Machine) -> None:
    """Each with the words of its reason."""
    refuse(m, 4, "no disk matches", step("serial:GONE"))
    refuse(m, 4, "3 disks match", step("model:BLANK"))
    refuse(m, 4, "another partition table", step("serial:SYS"))
    refuse(m, 4, "not blank: it holds data at byte 3158073", step("serial:FULL"))
    refuse(m, 4, "not blank", step("serial:MEMBER"))
    refuse(m, 4, "mounted at /srv", step("serial:MOUNT"))
    refuse(m, 4, "on the keep list", step("serial:BLANK-sdb", more=" keep=serial:BLANK-sdb"))
    refuse(m, 4, "keep serial:BLANK-x", step("serial:BLANK-sdb", more=" keep=serial:BLANK-x"))
    refuse(m, 2, "", step("/dev/sdb"))
    m.set_site("serial:BLANK-sdb\n")
    refuse(m, 4, "on the keep list", step("serial:BLANK-sdb"))


def made_once(m: Machine) -> None:
    said = make(m, step("serial:BLANK-sdb"), "sdb")
    word, guid = said.split(" ")
    assert word == "made", said
    table = json.loads(subprocess.check_output(["sfdisk", "-J", m.root / "dev/sdb"], timeout=60))["partitiontable"]
    (part,) = table["partitions"]
    assert (table["label"], table["id"].lower()) == ("gpt", ID), table
    assert (part["name"], part["uuid"].lower(), part["start"]) == ("sled-logs", guid, 2048), part
    checked = subprocess.run(
        ["sfdisk", "-V", m.root / "dev/sdb"], capture_output=True, text=True, check=True, timeout=60
    )
    assert "No errors detected" in checked.stdout, checked
    with (m.root / "dev/sdb").open("r+b") as file:
        file.seek(5 * MIB)
        file.write(b"what a system put there")
    for _ in range(5):
        assert make(m, step("serial:BLANK-sdb")) == f"found {guid}"
    refuse(m, 4, "another partition table", step("serial:BLANK-sdb", guid=OTHER))
    refuse(m, 4, "another partition table", step("serial:BLANK-sdb", name="mail"))


def twin(m: Machine) -> None:
    """Two paths are one disk: the first is written."""
    assert make(m, step("serial:TWIN"), "sdg").startswith("made ")


def copy(m: Machine) -> None:
    """Byte by byte on another disk: the installed system could mount either."""
    make(m, step("serial:BLANK-sdb"), "sdb")
    shutil.copyfile(m.root / "dev/sdb", m.root / "dev/sdc")
    refuse(m, 4, "has a copy of the partition", step("serial:BLANK-sdb"))
    refuse(m, 4, "has a copy of the partition", step("serial:BLANK-sdc"))
    blank(m, "sdb")
    refuse(m, 4, "has a copy of the partition", step("serial:BLANK-sdb"))
    blank(m, "sdc")
    make(m, step("serial:BLANK-sdb"), "sdb")


def kept(m: Machine) -> None:
    """As sledd pins it: a wipe of the system disk keeps the data disk, a tear-down takes it."""
    make(m, step("serial:BLANK-sdb"), "sdb")
    make(m, "wipe disks=serial:SYS keep=serial:BLANK-sdb", "sda")
    refuse(m, 4, "on the keep list", "wipe disks=serial:BLANK-sdb keep=serial:BLANK-sdb")
    make(m, "wipe disks=serial:SYS;serial:BLANK-sdb", "sdb")
    assert not any((m.root / "dev/sdb").read_bytes())


def test_refusals() -> None:
    on_machine(refusals)


def test_made_once() -> None:
    on_machine(made_once)


def test_twin() -> None:
    on_machine(twin)


def test_copy() -> None:
    on_machine(copy)


def test_kept() -> None:
    on_machine(kept)


if __name__ == "__main__":
    sys.exit(tap.run_tests(globals()))
