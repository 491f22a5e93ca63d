# SPDX-License-Identifier: Apache-2.0
"""Disk files of every format that QEMU knows, good and crafted, for test_foreign.py."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import imagezip

SIZE = 2 << 20
SECRET = b"of somebody else, in a file that no input may name".ljust(1024, b".")


def qemu_img(*words: object) -> None:
    """A LUKS header needs the thread's time on a core, which some kernels count too coarsely to be read at first."""
    for _ in range(50):
        done = subprocess.run(["qemu-img", *map(str, words)], check=False, capture_output=True, text=True, timeout=60)
        if "accurate CPU usage" not in done.stderr:
            break
    if done.returncode:
        raise RuntimeError(f"qemu-img {words}: exit {done.returncode}: {done.stderr}")


def vmdk(descriptor: str, capacity: int) -> bytes:
    """A hosted sparse extent with that descriptor in it (Virtual Disk Format 5.0)."""
    data = bytearray(SIZE)
    struct.pack_into("<4sIIQQQQIQQQ", data, 0, b"KDMV", 1, 3, capacity, 128, 1, 20, 512, 0, 0, 128)
    text = f"# Disk DescriptorFile\nversion=1\nCID=fffffffe\nparentCID=ffffffff\n{descriptor}\n".encode()
    data[512 : 512 + len(text)] = text
    return bytes(data)


def patched(path: Path, at: int, form: str, value: int) -> bytes:
    data = bytearray(path.read_bytes())
    struct.pack_into(form, data, at, value)
    return bytes(data)


def of_virtualbox(path: Path) -> bytes:
    """A dynamic VHD whose cylinders, heads and sectors make less than its size: QEMU believes them of this program."""
    data = bytearray(path.read_bytes())
    for at in (0, len(data) - 512):
        struct.pack_into(">4s", data, at + 28, b"vbox")
        struct.pack_into(">HBB", data, at + 56, 60, 4, 17)
        data[at + 64 : at + 68] = bytes(4)
        struct.pack_into(">I", data, at + 64, ~sum(data[at : at + 512]) & 0xFFFFFFFF)
    return bytes(data)


def make_good(folder: Path) -> dict[str, Path]:
    """One file of each format, by name."""
    disk = folder / "raw"
    content = bytearray(bytes(range(256)) * (SIZE // 512) + bytes(SIZE // 2))
    content[446:512] = bytes(64) + b"\x55\xaa"  # a boot sector: pack wants a sign that it is a disk
    disk.write_bytes(content)
    made = {"raw": disk}
    for name, form, *options in (
        ("qcow2-v2", "qcow2", "compat=0.10"),
        ("qcow2-v3", "qcow2", "compat=1.1"),
        ("qcow2-extended", "qcow2", "extended_l2=on,cluster_size=128k"),
        ("vmdk", "vmdk", "subformat=monolithicSparse"),
        ("vmdk-stream", "vmdk", "subformat=streamOptimized"),
        ("vhdx", "vhdx"),
        ("vdi", "vdi"),
        ("vpc", "vpc", "force_size=on"),
        ("vpc-fixed", "vpc", "subformat=fixed,force_size=on"),
        ("parallels", "parallels"),
        ("qed", "qed"),
    ):
        made[name] = folder / name
        words = [word for option in options for word in ("-o", option)]
        qemu_img("convert", "-f", "raw", "-O", form, *words, disk, made[name])
    made["vpc-geometry"] = folder / "vpc-geometry"
    made["vpc-geometry"].write_bytes(of_virtualbox(made["vpc"]))
    made["ndz"] = folder / "ndz"
    used = [(0, SIZE // 1024)]
    made["ndz"].write_bytes(imagezip.image(imagezip.plan(disk.read_bytes(), used, 1500), 3))
    made["luks"] = folder / "luks"
    key = ["--object", "secret,id=key,data=abc"]
    qemu_img("create", *key, "-f", "luks", "-o", "key-secret=key,iter-time=10", made["luks"], "1M")
    made["dmg"] = folder / "dmg"
    made["dmg"].write_bytes(disk.read_bytes() + b"koly" + struct.pack(">II", 4, 512) + bytes(500))
    return made


def make_crafted(folder: Path, good: dict[str, Path], secret: Path) -> dict[str, tuple[Path, str]]:
    """Files that need, name or promise more than there is; with a word of why they are refused."""
    made: dict[str, tuple[Path, str]] = {}

    def add(name: str, why: str, make: Callable[[Path], object]) -> None:
        made[name] = folder / name, why
        make(folder / name)

    flat = f'createType="monolithicFlat"\nRW 2 FLAT "{secret}" 0'
    several = f'createType="twoGbMaxExtentSparse"\nRW 2 SPARSE "{secret}"\nRW 2 SPARSE "{secret}"'
    add("descriptor.vmdk", "only describes", lambda p: p.write_text(f"# Disk DescriptorFile\nversion=1\n{flat}\n"))
    add("embedded.vmdk", "several files", lambda p: p.write_bytes(vmdk(flat, 0)))
    add("flat.vmdk", "another type", lambda p: p.write_bytes(vmdk(flat, 2)))
    add("several.vmdk", "another type", lambda p: p.write_bytes(vmdk(several, 2)))
    parent = f'createType="monolithicSparse"\nparentFileNameHint="{secret}"'
    add("parent.vmdk", "snapshot", lambda p: p.write_bytes(vmdk(parent, 2)))
    add("esx.vmdk", "several files", lambda p: p.write_bytes(b"COWD" + bytes(4092)))
    backed = ["create", "-q", "-f", "qcow2", "-b", secret, "-F", "raw"]
    add("backed2.qcow2", "another file", lambda p: qemu_img(*backed, "-o", "compat=0.10", p, "1M"))
    add("backed3.qcow2", "another file", lambda p: qemu_img(*backed, p, "1M"))
    outside = f"data_file={folder / 'outside'},data_file_raw=on"
    add("outside.qcow2", "another file", lambda p: qemu_img("create", "-q", "-f", "qcow2", "-o", outside, p, "1M"))
    old = patched(good["qcow2-v2"], 4, ">I", 1)
    add("old.qcow", "another version", lambda p: p.write_bytes(old))
    locked = patched(good["qcow2-v2"], 32, ">I", 1)
    add("locked.qcow2", "encrypted", lambda p: p.write_bytes(locked))
    luks = "encrypt.format=luks,encrypt.key-secret=key,encrypt.iter-time=10"
    key = ["--object", "secret,id=key,data=abc", "-o", luks]
    add("luks.qcow2", "encrypted", lambda p: qemu_img("create", "-q", "-f", "qcow2", *key, p, "1M"))
    for name, at, form, value in (
        ("qcow2-v3", 24, ">Q", 1 << 60),
        ("vmdk", 12, "<Q", 1 << 52),
        ("vdi", 368, "<Q", 1 << 60),
        ("vpc", 48, ">Q", 1 << 60),
    ):
        data = patched(good[name], at, form, value)
        add(f"huge.{name}", "2^50", lambda p, data=data: p.write_bytes(data))
    add("huge-enough.qcow2", "limit=", lambda p: qemu_img("create", "-q", "-f", "qcow2", p, "32T"))
    add("child.vpc", "snapshot", lambda p: p.write_bytes(patched(good["vpc"], 60, ">I", 4)))
    add("child.vdi", "snapshot", lambda p: p.write_bytes(patched(good["vdi"], 76, "<I", 4)))
    for name, words in (("parallels", "Parallels"), ("qed", "QED"), ("dmg", "Apple")):
        add(f"a.{name}", words, lambda p, name=name: p.write_bytes(good[name].read_bytes()))
    return made
