# SPDX-License-Identifier: Apache-2.0
"""Plans that would cost a disk which somebody means to keep: each is refused, names its entry, and no byte changes.

Prints TAP.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import members
from machine_of_files import Machine
from members import MIB
from program import for_tests

ARRAY, GROUP, CACHE, TABLE = b"0123456789abcdef", "a1b2c3-d4e5", b"fedcba9876543210", b"PARTITION-OF-IT!"
TABLE_UUID = "54524150-5449-4f49-4e2d-4f462d495421"  # as it is written, in the order of GPT
MIRROR = f"md:{ARRAY.hex()[:8]}-3435-3637-3839-616263646566"
LUN = "5000c5000000000c"
DIGEST = "sha256:" + "0" * 64

# What refuses it, the code, words of the message, and the step. `argument` and `site` are the machine's own lists, of
# which one cannot be read if it is `unreadable`.
CASES: list[tuple[str, int, str, str, dict[str, str]]] = [
    ("typing error", 4, "keep serial:DATA-X", "wipe disks=serial:SYS-1 keep=serial:DATA-X", {}),
    ("case of a serial", 4, "keep serial:data-b", "wipe disks=serial:SYS-1 keep=serial:data-b", {}),
    ("case of a wwn", 4, "keep wwn:0x5000C500", "wipe disks=serial:SYS-1 keep=wwn:0x5000C50000000002", {}),
    ("wwn as in sysfs", 4, "keep wwn:naa.5000", "wipe disks=serial:SYS-1 keep=wwn:naa.5000c50000000002", {}),
    ("model in full", 4, "keep model:SAMSUNG", "wipe disks=serial:SYS-1 keep=model:SAMSUNG%2520MZ7LH960HAJR", {}),
    ("model without a star", 4, "keep model:SAMSUNG:", "wipe disks=serial:SYS-1 keep=model:SAMSUNG", {}),
    ("a space at its end", 4, "keep serial:DATA-B%20", "wipe disks=serial:SYS-1 keep=serial:DATA-B%2520", {}),
    ("absent disk", 4, "keep serial:GONE", "wipe disks=serial:SYS-1 keep=serial:DATA-B;serial:GONE", {}),
    ("comma for semicolon", 4, "keep serial:DATA-B,serial:MD-1",
     "wipe disks=serial:SYS-1 keep=serial:DATA-B,serial:MD-1", {}),
    ("all, and a typing error", 4, "keep serial:DATA-b", "wipe disks=all keep=serial:DATA-b", {}),
    ("all, and an absent disk", 4, "keep wwn:0xDEAD", "wipe disks=all keep=wwn:0xDEAD", {}),
    ("device name", 2, "/dev/sdb", "wipe disks=serial:SYS-1 keep=/dev/sdb", {}),
    ("empty entry", 2, "keep", "wipe disks=serial:SYS-1 keep=serial:DATA-B;", {}),
    ("what depends on others", 2, "smallest", "wipe disks=serial:SYS-1 keep=smallest", {}),
    ("write, and a typing error", 4, "keep serial:DATA-X",
     f"write disk=serial:SYS-1 image=http://127.0.0.1:1/x digest={DIGEST} keep=serial:DATA-X", {}),
    ("kept itself", 4, "sdb is on the keep list", "wipe disks=serial:DATA-B keep=model:SAMSUNG*", {}),
    ("kept partition by name", 4, "sdb is on the keep list", "wipe disks=serial:DATA-B keep=part-label:tenant", {}),
    ("kept partition by UUID", 4, "sdb is on the keep list",
     f"wipe disks=serial:DATA-B level=clear keep=part-uuid:{TABLE_UUID}", {}),
    ("case of a partition", 4, "keep part-label:Tenant", "wipe disks=serial:SYS-1 keep=part-label:Tenant", {}),
    ("partition of no disk", 4, "keep part-uuid:0", "wipe disks=all keep=part-uuid:0", {}),
    ("partition selected", 2, "part-label:tenant", "wipe disks=part-label:tenant", {}),
    ("twin path", 4, "is on the keep list", "wipe disks=serial:TWIN keep=path:PATH", {}),
    ("twin path, write", 4, "is on the keep list",
     f"write disk=wwn:0x{LUN} image=http://127.0.0.1:1/x digest={DIGEST} keep=path:PATH", {}),
    ("mirror, a half", 4, MIRROR, "wipe disks=serial:MD-1", {}),
    ("mirror, a half is kept", 4, "MD-2", "wipe disks=all keep=serial:MD-2", {}),
    ("mirror of LUKS, write", 4, "MD-1",
     f"write disk=serial:MD-2 image=http://127.0.0.1:1/x digest={DIGEST}", {}),
    ("volume group, a half", 4, f"lvm:{GROUP}", "wipe disks=serial:LVM-1;serial:SYS-1", {}),
    ("volume group, a half by purge", 4, f"lvm:{GROUP}", "wipe disks=serial:LVM-2 level=purge", {}),
    ("pool, a half", 4, "zfs:42", "wipe disks=serial:ZFS-1", {}),
    ("pool, a half is kept", 4, "ZFS-1", "wipe disks=all keep=serial:ZFS-1", {}),
    ("btrfs, a half", 4, "btrfs:", "wipe disks=serial:BTR-2;serial:MD-1;serial:MD-2", {}),
    ("cache without its disk", 4, "bcache:", "wipe disks=serial:CACHE", {}),
    ("filesystem without its journal", 4, "jbd:", "wipe disks=serial:EXT", {}),
    ("journal without its filesystem", 4, "jbd:", "wipe disks=all keep=serial:EXT", {}),
    ("mirror, its other half not readable", 4, "sdc2 (serial MD-2), which this step does not take, cannot be read",
     "wipe disks=serial:MD-1", {"unreadable": "dev/sdc2"}),
    ("not readable, and a partition is kept", 4, "sda is not readable, and the keep list names a partition",
     "wipe disks=serial:SYS-1 keep=part-label:tenant", {"unreadable": "dev/sda"}),
    ("one of two namespaces", 4, "2 disks match", "wipe disks=serial:NVME keep=wwn:eui.02 level=purge", {}),
    ("mounted", 4, "mounted at /srv", "wipe disks=serial:MOUNT", {}),
    ("kernel argument, absent", 4, "keep serial:GONE", "wipe disks=serial:SYS-1",
     {"argument": "sled.keep=serial:GONE"}),
    ("kernel argument, second", 4, "keep serial:GONE", "wipe disks=all",
     {"argument": "sled.keep=serial:GONE sled.keep=serial:DATA-B"}),
    ("kernel argument keeps", 4, "sda is on the keep list", "wipe disks=serial:SYS-1 keep=serial:DATA-B",
     {"argument": "sled.keep=model:SAMSUNG%20MZ7LH960,serial:SYS-1"}),
    ("kernel argument, unknown", 2, "sled.keep", "wipe disks=serial:SYS-1", {"argument": "sled.keep=sda"}),
    ("kernel argument, nothing", 2, "sled.keep", "wipe disks=serial:SYS-1", {"argument": "sled.keep="}),
    ("site file, absent", 4, "keep serial:GONE", "wipe disks=serial:SYS-1", {"site": "# ours\n\nserial:GONE\n"}),
    ("site file keeps", 4, "sda is on the keep list",
     f"write disk=serial:SYS-1 image=http://127.0.0.1:1/x digest={DIGEST}", {"site": "wwn:0x5000c50000000001"}),
    ("site file, half a mirror", 4, MIRROR, "wipe disks=all", {"site": "serial:MD-1\r\n"}),
    ("site file, unknown", 2, "/etc/sled/keep", "wipe disks=serial:SYS-1", {"site": "DATA-B\n"}),
    ("site file, not readable", 1, "/etc/sled/keep", "wipe disks=serial:SYS-1", {"unreadable": "etc/sled/keep"}),
    ("swaps, not readable", 1, "/proc/swaps", "wipe disks=serial:SYS-1", {"unreadable": "proc/swaps"}),
    ("kernel arguments, not readable", 1, "/proc/cmdline", "wipe disks=serial:SYS-1", {"unreadable": "proc/cmdline"}),
    ("holders, not readable", 4, "sda is of unknown use: ", "wipe disks=serial:SYS-1",
     {"unreadable": "sys/block/sda/holders"}),
    ("holders, not readable, write", 4, "sda is of unknown use: ",
     f"write disk=serial:SYS-1 image=http://127.0.0.1:1/x digest={DIGEST}", {"unreadable": "sys/block/sda/holders"}),
]  # fmt: skip


def make(root: Path, sledc: str) -> Machine:
    """A system disk, one with a partition of its own, two paths, two namespaces, a mounted disk, and sets."""
    m = Machine(root, sledc)
    m.scsi("sda", "SYS-1", "SAMSUNG MZ7LH960", "5000c50000000001")
    table = members.gpt(4 * MIB, (2048, 4095, "tenant", TABLE))
    m.scsi("sdb", "DATA-B", "SAMSUNG MZ7LH960", "5000c50000000002", table)
    for i in (1, 2):
        m.scsi(f"sdc{i}", f"MD-{i}", "M", f"5000c5000000003{i}", members.md(ARRAY, 4 * MIB), members.luks())
        m.scsi(f"sdd{i}", f"LVM-{i}", "M", f"5000c5000000004{i}", members.lvm(GROUP, 2, 4 * MIB, start=i * 521990))
        m.scsi(f"sde{i}", f"ZFS-{i}", "M", f"5000c5000000005{i}", members.zfs(42), size=64 * MIB)
        m.scsi(f"sdf{i}", f"BTR-{i}", "M", f"5000c5000000006{i}", members.btrfs(ARRAY, 2))
        m.namespace(0, i, "NVME", f"0{i}")
    m.scsi("sdg", "CACHE", "M", "5000c50000000071", members.bcache(CACHE))
    m.scsi("sdh", "BACKED", "M", "5000c50000000072", members.bcache(CACHE))
    m.scsi("sdo", "EXT", "M", "5000c50000000073", members.ext(CACHE, TABLE))
    m.scsi("sdp", "JOURNAL", "M", "5000c50000000074", members.ext(TABLE))
    m.scsi("sdi", "TWIN", "M", LUN)
    m.scsi("sdj", "TWIN", "M", LUN)
    mounted = m.scsi("sdk", "MOUNT", "M", "5000c50000000008")
    with (root / "proc/self/mountinfo").open("a") as file:
        file.write(f"30 22 {(mounted / 'dev').read_text().strip()} / /srv rw - ext4 /dev/sdk rw\n")
    # Alone: one that was made for one disk is in no set.
    m.scsi("sdl", "ALONE", "M", "5000c50000000009", members.btrfs(CACHE, 1), members.luks())
    m.scsi("sdm", "GROUP", "M", "5000c5000000000a", members.lvm("other", 1, 4 * MIB))
    m.scsi("sdn", "UNUSED", "M", "5000c5000000000b", members.bcache(bytes(16)))
    return m


def second_path(m: Machine) -> str:
    """The name of the other path of the twin."""
    listed = m.run("disks", f"root={m.root}").stdout
    lines = [line for line in listed.splitlines() if " serial=TWIN " in line]
    assert len(lines) == 2, listed
    return lines[1].split(" path=")[1].split(" ")[0]


def refuse(m: Machine, case: tuple[str, int, str, str, dict[str, str]], path: str) -> None:
    """One hostile plan."""
    before = m.written()
    _, code, words, step, own = case
    m.set_argument(own.get("argument", ""))
    m.set_site(own.get("site"))
    with m.without(own.get("unreadable")):
        done = m.plan(step.replace("PATH", path))
    last = done.stderr.strip().splitlines()[-1:]
    assert done.returncode == code, f"code {done.returncode}: {done.stderr}"
    assert last and words in last[0], f"{words} is not in: {last}"
    assert m.written() == before, f"written: {m.written().items() ^ before.items()}"


def accept(m: Machine, path: str, step: str, *names: str) -> None:
    """One that is right: these disks are emptied, and no others."""
    m.set_argument("sled.keep=serial:DATA-B sled.keep=part-label:tenant")
    m.set_site(f"path:{path}\n")
    before = m.hashes()
    done = m.plan(step)
    assert done.returncode == 0, f"code {done.returncode}: {done.stderr}"
    after = m.hashes()
    assert sorted(name for name in after if after[name] != before[name]) == sorted(names), done.stdout
    for name in names:
        assert not any((m.root / "dev" / name).read_bytes()), f"{name} holds something"


def show(number: int, what: str, fault: AssertionError | None) -> None:
    """A line of TAP."""
    print(f"{'not ' if fault else ''}ok {number} - {what}" + (f": {fault}" if fault else ""))


def main() -> int:
    sledc = for_tests()
    failed, number = 0, 0
    with tempfile.TemporaryDirectory() as work:
        m = make(Path(work), sledc)
        before, path = m.hashes(), second_path(m)
        for number, case in enumerate(CASES, 1):
            try:
                refuse(m, case, path)
                show(number, case[0], None)
            except AssertionError as fault:
                failed += 1
                show(number, case[0], fault)
        number += 1
        failed += m.hashes() != before
        print("ok" if m.hashes() == before else "not ok", number, "- sha256 of every disk")
        good = {
            "wipe disks=serial:SYS-1 keep=part-label:tenant": ["sda"],
            "wipe disks=serial:MD-1;serial:MD-2": ["sdc1", "sdc2"],
            "wipe disks=serial:LVM-2;serial:LVM-1;serial:ALONE": ["sdd1", "sdd2", "sdl"],
            "wipe disks=serial:GROUP": ["sdm"],
            "wipe disks=serial:UNUSED keep=serial:CACHE;serial:BACKED": ["sdn"],
        }
        for step, names in good.items():
            number += 1
            try:
                accept(m, path, step, *names)
                show(number, step, None)
            except AssertionError as fault:
                failed += 1
                show(number, step, fault)
    print(f"1..{number}")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
