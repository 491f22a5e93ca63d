# SPDX-License-Identifier: Apache-2.0
"""A partition that is not written, by name, and no byte of any disk changes. Prints TAP."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import members
from images import MIB, SLEDC, Image, expect, make_disk, noise, run_tests, sledc, work
from machine_of_files import Machine
from partitions import DISK, JUNK, Target, filesystem, make_donors, make_target, pack, run_write


def refused(target: Target, image: Image, word: str, code: int, says: str) -> None:
    """By name, and no byte has changed."""
    before = target.path.read_bytes()
    for place in ("disk", "file"):
        run_write(target, image, *([word] if word else []), code=code, says=says, place=place)
        assert target.path.read_bytes() == before, f"{word}: a byte changed"


def twice(target: Target) -> Target:
    """Two partitions of one name, two of one UUID."""
    for word in ("--change-name=2:part1", "--partition-guid=4:00000000-0000-0000-0000-000000000003"):
        subprocess.run(["sgdisk", word, target.path], check=True, capture_output=True)
    return target


def overlapped(target: Target) -> Target:
    """An MBR whose second partition starts within the first."""
    data = bytearray(target.path.read_bytes())
    data[446 + 16 + 8 : 446 + 16 + 12] = (target.places[1][0] // 512 + 8).to_bytes(4, "little")
    target.path.write_bytes(data)
    return target


def test_refusals() -> None:
    draw, donors = random.Random(45), make_donors("gpt")
    image = donors[0].image
    gpt = twice(make_target(draw, "gpt", "gpt.raw"))
    mbr, logical = make_target(draw, "mbr", "mbr.raw"), make_target(draw, "logical", "logical.raw")
    for word in ("5", "part-label:part9", "part-label:PART3", "part-uuid:00000000-0000-0000-0000-000000000009"):
        refused(gpt, image, f"partition={word}", 4, "has none such; its partitions are: 1, 2, 3, 4")
    refused(mbr, image, "partition=part-label:part1", 4, "has none such")
    refused(gpt, image, "partition=part-label:part1", 4, "2 of")
    refused(gpt, image, "partition=part-uuid:00000000-0000-0000-0000-000000000003", 4, "2 of")
    for word in ("0", "", "x", "part-label:", "sda1", "1,2"):
        refused(gpt, image, f"partition={word}", 2, "partition")
    refused(logical, image, "partition=3", 4, "an extended one, which holds others")
    refused(overlapped(mbr), image, "partition=1", 4, "those of another partition")
    whole = make_disk("whole.raw", 16 * MIB, (MIB, noise(3, 2 * MIB)))
    expect(sledc("pack", f"in={whole}", f"out={work}/whole.zst"), 0)
    refused(gpt, Image.read(work / "whole.zst"), "partition=2", 3, "the image is of a whole disk")
    refused(gpt, image, "", 3, "the image is of one partition")
    shown = sledc("verify", f"image=file://{image.path}", "disk=only", SLED_TEST_DISK=str(gpt.path))
    expect(shown, 3, "the image is of one partition")
    blank = Target(work / "blank.raw", "none", {})
    blank.path.write_bytes(bytes(16 * MIB))
    refused(blank, image, "partition=1", 4, "no partition table")


def test_too_small() -> None:
    image = make_donors("gpt")[2].image
    small = make_disk("small.raw", 16 * MIB, (MIB, noise(1, 4 * MIB) + JUNK[:2048]), (8 * MIB, noise(2, 3 * MIB)))
    target = Target(small, "gpt", {})
    refused(target, image, "partition=1", 4, "512 bytes too small")
    refused(target, image, "partition=2", 4, "too small")
    ext2 = filesystem("ext2", MIB, "mke2fs", "-q", "-t", "ext2")
    free = pack(make_disk("free.raw", 16 * MIB, (MIB, ext2 + bytes(4 * MIB))), 1)
    refused(target, free, "partition=2", 4, "2097152 bytes too small")


def test_no_file_is_made() -> None:
    image = make_donors("gpt")[0].image
    none = Target(work / "none.raw", "gpt", {})
    run_write(none, image, "partition=1", code=4, says="No such file", place="file")
    assert not none.path.exists()


def test_pack_refuses() -> None:
    raw = make_target(random.Random(2), "gpt", "raw.raw").path
    out = work / "never.zst"
    expect(sledc("pack", f"in={raw}", f"out={out}", "partition=7"), 4, "has none such")
    expect(sledc("pack", f"in={raw}", f"out={out}", "partition=all"), 2, "partition")
    assert not out.exists()


def on_machine(name: str, member: tuple[int, bytes] | None, *others: members.Bytes) -> Machine:
    """A machine whose disk sda has four partitions, of which the second may be a member, and sdb with these bytes."""
    target = make_target(random.Random(3), "gpt", f"{name}.raw")
    if member:
        target.fill(2, bytes(member[0]) + member[1])
    machine = Machine(work / name, SLEDC)
    machine.scsi("sda", "SYS", "disk", "5000c50000000001", (0, target.path.read_bytes()), size=DISK)
    machine.scsi("sdb", "DATA", "disk", "5000c50000000002", *others, size=4 * MIB)
    return machine


def machine_write(machine: Machine, image: Image, *words: str, code: int, says: str) -> None:
    """As a step does it; refused, no byte of any disk changes."""
    before = machine.hashes()
    os.environ["SLED_KEYS"] = str(work / "image.pub")
    place = ["disk=serial:SYS", f"image=file://{image.path}", f"digest={image.digest}", *image.signed]
    run = machine.run("write", *place, *words)
    expect(run, code, says)
    after = machine.hashes()
    assert (after == before) == (code != 0), "a byte changed" if code else "nothing was written"
    assert after["sdb"] == before["sdb"], "another disk was touched"


def test_on_a_machine() -> None:
    image = make_donors("gpt")[0].image
    group = members.lvm("a1b2c3-d4e5", 2, 4 * MIB)
    machine_write(on_machine("plain", None), image, "partition=2", code=0, says="detail")
    shared = on_machine("shared", group, group)
    for words in (("partition=2",), ("partition=2", "keep=serial:DATA")):
        machine_write(shared, image, *words, code=4, says="is a member of the set lvm:a1b2c3-d4e5")
    machine_write(shared, image, "partition=1", code=0, says="detail")
    machine_write(shared, image, "partition=3", "keep=part-label:part4", code=4, says="on the keep list")
    alone = on_machine("alone", members.lvm("a1b2c3-d4e5", 1, 4 * MIB))
    machine_write(alone, image, "partition=2", code=0, says="detail")
    mounted = on_machine("mounted", None)
    with (mounted.root / "proc/self/mountinfo").open("a") as file:
        file.write("36 22 8:0 / /srv rw - ext4 /dev/sda rw\n")
    machine_write(mounted, image, "partition=2", code=4, says="mounted at /srv")


def test_sets_within_a_disk() -> None:
    image = make_donors("gpt")[0].image
    target = make_target(random.Random(4), "gpt", "sets.raw")
    at, data = members.lvm("a1b2c3-d4e5", 2, 4 * MIB)
    for number in (2, 3):
        target.fill(number, bytes(at) + data)
    refused(target, image, "partition=2", 4, "is a member of the set lvm:a1b2c3-d4e5, and so is its partition")


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
