# SPDX-License-Identifier: Apache-2.0
"""Disks whose tables are not read, in front of what looks like a swap: all of what the table may describe is kept."""

from __future__ import annotations

import struct

from disk import HEAD, KIB, MIB, Disk, put_swap, swap
from tables import gpt, mbr


def bsd(start: int, sectors: int) -> bytes:
    """A disklabel of BSD with one partition of UFS, in the second sector of its disk or slice."""
    label = bytearray(148 + 8 * 16)
    struct.pack_into("<IHH", label, 0, 0x82564557, 4, 0)
    struct.pack_into("<IIIIII", label, 40, 512, 63, 16, 1, 63 * 16, sectors)
    struct.pack_into("<IHHII", label, 132, 0x82564557, 0, 8, 8192, 8192)
    struct.pack_into("<IIIBBH", label, 148, sectors - 64, start + 64, 2048, 7, 8, 0)
    check = 0
    for (word,) in struct.iter_unpack("<H", label):
        check ^= word
    struct.pack_into("<H", label, 136, check)
    return bytes(label)


def large_page(page: bytes) -> bytes:
    """The same swap with pages of 64 KiB, as some machines of arm64 have them."""
    large = bytearray(64 * KIB)
    large[1024:1052], large[-10:] = page[1024:1052], page[-10:]
    struct.pack_into("<I", large, 1028, 2 * MIB // len(large) - 1)
    return bytes(large)


def odd_tables() -> dict[str, Disk]:
    """Over the signature of a swap that nobody has erased, a table: inside of a partition, or not as it should be."""
    inner, inner_gpt = bytearray(2 * MIB), bytearray(2 * MIB)
    mbr(inner, [(0, 0x83, 64, 4000)])
    gpt(inner_gpt, [(64, 4000, None)])
    page = swap(2 * MIB)
    tables: dict[str, tuple[int, bytes, int, bytes]] = {
        "bsd_in_slice": (0xA5, page, 512, bsd(2048, 4096)),
        "mbr_in_partition": (0x83, page, 0, bytes(inner[:512])),
        "gpt_in_partition": (0x83, large_page(page), 0, bytes(inner_gpt[: 34 * 512])),
    }
    found = {}
    for name, (kind, under, at, table) in tables.items():
        disk = Disk(4)
        mbr(disk.data, [(0, kind, 2048, 4096)])
        disk.fill(MIB + 128 * KIB, 2 * MIB)
        disk.put(MIB, under)
        disk.put(MIB + at, table)
        found[name] = disk.keep(HEAD, (MIB, 3 * MIB))
    return found | odd_tables_of_disk(page, large_page(page))


def odd_tables_of_disk(page: bytes, large: bytes) -> dict[str, Disk]:
    """The same, where the table is the disk's own: all of it is kept."""
    found = {}
    for name in ("bsd_whole_disk", "mbr_beyond_disk", "gpt_without_mbr", "gpt_beside_odd_entry"):
        disk = Disk(2)
        disk.fill(128 * KIB, MIB)
        disk.put(0, large if name.startswith("gpt") else page)
        if name == "bsd_whole_disk":
            mbr(disk.data, [None, None, None, (0x80, 0xA5, 0, 50000)])  # as FreeBSD writes it
            disk.put(512, bsd(0, 4096))
        elif name == "mbr_beyond_disk":
            mbr(disk.data, [(0, 0x83, 64, 1000), (0, 0x83, 5000, 1000)])
        elif name == "gpt_without_mbr":
            gpt(disk.data, [(64, 4000, None)])
            disk.put(0, bytes(512))
        elif name == "gpt_beside_odd_entry":
            gpt(disk.data, [(64, 4000, None)], [(0, 0x83, 0, 1)])
        found[name] = disk.keep((0, 2 * MIB))
    return found


def acorn() -> bytes:
    """The boot block of a disk of 2 MiB with sectors of 512 bytes."""
    block = bytearray(512)
    block[0x1C0] = 9
    struct.pack_into("<I", block, 0x1C0 + 16, 2 * MIB)
    check = 0
    for byte in reversed(block[:511]):
        check = (check & 0xFF) + (check >> 8) + byte
    block[511] = check & 0xFF
    return bytes(block)


def other_types() -> dict[str, Disk]:
    """What looks like a swap, in a partition whose type is that of something else: it is older."""
    found = {}
    for name, kind in (
        ("raid", "A19D880F-05FC-4D3B-A006-743F0F84911E"),
        ("crypt", "7FFEC5C9-2D00-49B7-8941-3EA10A5586B7"),
    ):
        disk = Disk(4)
        gpt(disk.data, [(2048, 4095, kind)])
        put_swap(disk, MIB, MIB)
        disk.fill(MIB + 128 * KIB, 2 * MIB)
        found[f"type_of_{name}"] = disk.keep(HEAD, (MIB, 2 * MIB), (4 * MIB - 33 * 512, 4 * MIB))
    lvm = Disk(4)
    mbr(lvm.data, [(0, 0x8E, 2048, 2048)])
    put_swap(lvm, MIB, MIB)
    lvm.fill(MIB + 128 * KIB, 2 * MIB)
    return found | {"type_of_lvm": lvm.keep(HEAD, (MIB, 2 * MIB))}


def other_tables() -> dict[str, Disk]:
    """Tables of other kinds in front of what looks like a swap over the whole disk: all of it is kept."""
    sun = bytearray(512)
    struct.pack_into(">IH", sun, 128, 1, 0)  # version
    struct.pack_into(">H", sun, 140, 8)  # partitions
    struct.pack_into(">I", sun, 188, 0x600DDEEE)
    struct.pack_into(">HH", sun, 436, 16, 63)
    struct.pack_into(">IIH", sun, 444, 0, 4096, 0xDABE)
    struct.pack_into(">H", sun, 508, 0xDABE)
    check = 0
    for (word,) in struct.iter_unpack(">H", sun[:510]):
        check ^= word
    struct.pack_into(">H", sun, 510, check)
    mac = bytearray(1024)
    struct.pack_into(">2sHI", mac, 0, b"ER", 512, 4096)
    struct.pack_into(">2sHIII32s32s", mac, 512, b"PM", 0, 1, 1, 63, b"Apple", b"Apple_partition_map")
    amiga = b"RDSK".ljust(512, b"\0")
    found = {}
    for name, at, table in (("sun", 0, sun), ("mac", 0, mac), ("amiga", 2048, amiga), ("acorn", 3072, acorn())):
        disk = Disk(2)
        put_swap(disk, 0, 2 * MIB)
        disk.put(at, bytes(table))
        disk.used = set()
        found[f"table_of_{name}"] = disk.keep((0, 2 * MIB))
    return found
