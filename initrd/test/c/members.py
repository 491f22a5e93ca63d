# SPDX-License-Identifier: Apache-2.0
"""The bytes by which a disk is a member of a set, as the tools of each write them: offset and data."""

from __future__ import annotations

import struct
import zlib

MIB = 1 << 20
Bytes = tuple[int, bytes]


def md(array: bytes, disk_bytes: int) -> Bytes:
    """Version 1.0, at the end: what the mirror holds is at the start of each member."""
    at = (disk_bytes // 512 - 16) // 8 * 8 * 512
    block = bytearray(256)
    struct.pack_into("<IIII", block, 0, 0xA92B4EFC, 1, 0, 0)
    block[16:32] = array
    struct.pack_into("<IIQII", block, 72, 1, 0, at // 512, 0, 2)  # level, layout, sectors, chunk, disks
    struct.pack_into("<QQQ", block, 128, 0, at // 512, at // 512)  # data, its size, own place
    total = sum(struct.unpack("<64I", block))
    struct.pack_into("<I", block, 216, (total & 0xFFFFFFFF) + (total >> 32) & 0xFFFFFFFF)
    return at, bytes(block)


def ext(uuid: bytes, journal: bytes = b"") -> Bytes:
    """ext3 with its journal on the device of that UUID; without one, such a device."""
    block = bytearray(1024)
    struct.pack_into("<IIIIIII", block, 0, 64, 1024, 0, 0, 53, 1, 0)
    struct.pack_into("<HH", block, 56, 0xEF53, 1)
    struct.pack_into("<I", block, 76, 1)  # revision
    struct.pack_into("<HH", block, 84, 11, 128)
    struct.pack_into("<III", block, 92, 4 if journal else 0, 0 if journal else 8, 0)
    block[104:120] = uuid
    block[208:224] = journal.ljust(16, b"\0")
    return 1024, bytes(block)


def luks() -> Bytes:
    """The header of LUKS1, which is in no set."""
    return 0, (b"LUKS\xba\xbe\0\1" + b"aes".ljust(32, b"\0") + b"xts-plain64".ljust(32, b"\0")).ljust(592, b"\0")


def crc(data: bytes) -> int:
    """Of LVM2: that of zlib, begun with another number and not inverted."""
    return zlib.crc32(data, 0xF597A6CF ^ 0xFFFFFFFF) ^ 0xFFFFFFFF


def lvm(group: str, volumes: int, disk_bytes: int, start: int = 512, room: int = MIB - 4096) -> Bytes:
    """A physical volume of a group of so many. Its metadata begin at `start` of an area of `room`; 0: it has none."""
    label = bytearray(512)
    struct.pack_into("<8sQII8s", label, 0, b"LABELONE", 1, 0, 32, b"LVM2 001")
    lists = [(MIB, 0), (0, 0), *[(4096, room)] * min(start, 1), (0, 0)]
    struct.pack_into("<32sQ", label, 32, b"v" * 32, disk_bytes)
    for i, (at, size) in enumerate(lists):
        struct.pack_into("<QQ", label, 72 + 16 * i, at, size)
    struct.pack_into("<I", label, 16, crc(bytes(label[20:])))
    ring = bytearray(room - 512)
    text = metadata(group, volumes)
    for i, byte in enumerate(text):
        ring[(start - 512 + i) % len(ring)] = byte
    header = struct.pack("<16sIQQQQII", b" LVM2 x[5A%r0N*>", 1, 4096, room, start, len(text), 0, 0)
    header = header.ljust(508, b"\0")
    return 512, bytes(label) + bytes(4096 - 1024) + struct.pack("<I", crc(header)) + header + bytes(ring)


def metadata(group: str, volumes: int) -> bytes:
    """As LVM2 writes it; a description may hold anything."""
    physical = "".join(
        f'pv{i} {{\nid = "p{i}"\ndevice = "/dev/sd{i}"\ntags = ["a{{", "b\\"}}"]\npe_start = 2048\n}}\n'
        for i in range(volumes)
    )
    return (
        f'vg {{\nid = "{group}"\nseqno = 2\nformat = "lvm2"\nstatus = ["RESIZEABLE", "READ"]\n'
        f"physical_volumes {{\n{physical}}}\n"
        f'logical_volumes {{\nroot {{\nid = "l"\nsegment1 {{\nstart = 0\n}}\n}}\n}}\n}}\n'
        f'contents = "Text Format Volume Group"\ndescription = "physical_volumes {{ id = \\"x\\" "\n\0'
    ).encode()


def zfs(pool: int) -> Bytes:
    """A label with the guid of its pool and uberblocks, at the start of a disk of 64 MiB or more."""

    def pair(name: str, kind: int, value: bytes) -> bytes:
        padded = name.encode().ljust((len(name) + 3) // 4 * 4, b"\0")
        size = 12 + len(padded) + 8 + len(value)
        return struct.pack(">III", size, size, len(name)) + padded + struct.pack(">II", kind, 1) + value

    pairs = pair("version", 8, struct.pack(">Q", 5000)) + pair("name", 9, struct.pack(">I4s", 4, b"tank"))
    pairs += pair("pool_guid", 8, struct.pack(">Q", pool)) + bytes(8)
    label = bytearray(256 << 10)
    label[16 << 10 : (16 << 10) + 12 + len(pairs)] = b"\1\1\0\0" + struct.pack(">II", 0, 1) + pairs
    for i in range(128):
        struct.pack_into("<QQQQQ", label, (128 + i) << 10, 0x00BAB10C, 5000, i, 0, 0)
    return 0, bytes(label)


def crc32c(data: bytes) -> int:
    """Of btrfs."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def btrfs(filesystem: bytes, devices: int) -> Bytes:
    """The first superblock."""
    block = bytearray(4096)
    block[32:48] = filesystem
    struct.pack_into("<QQ8s", block, 48, 65536, 1, b"_BHRfS_M")
    struct.pack_into("<Q", block, 0x88, devices)
    struct.pack_into("<III", block, 0x90, 4096, 16384, 16384)
    struct.pack_into("<I", block, 0, crc32c(bytes(block[32:])))
    return 65536, bytes(block)


def bcache(group: bytes) -> Bytes:
    """A caching or a backing device."""
    block = bytearray(4096)
    struct.pack_into("<QQQ", block, 0, 0, 8, 1)
    block[24:40] = bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81")
    block[40:56] = b"u" * 16
    block[56:72] = group
    return 4096, bytes(block)


def gpt(disk_bytes: int, *partitions: tuple[int, int, str, bytes]) -> Bytes:
    """A table with (first sector, last sector, name, PARTUUID as it is written)."""
    entries = b"".join(
        struct.pack("<16s16sQQQ72s", b"\xaf" * 16, uuid, first, last, 0, name.encode("utf-16-le"))
        for first, last, name, uuid in partitions
    ).ljust(128 * 128, b"\0")
    last = disk_bytes // 512 - 1

    def header(checksum: int) -> bytes:
        words = (b"EFI PART", 0x10000, 92, checksum, 0, 1, last, 34, last - 33, b"g" * 16, 2, 128, 128)
        return struct.pack("<8sIIIIQQQQ16sQIII", *words, zlib.crc32(entries))

    protective = struct.pack("<B3sB3sII", 0, b"\0\2\0", 0xEE, b"\xff" * 3, 1, min(last, 0xFFFFFFFF))
    mbr = bytes(446) + protective + bytes(48) + b"\x55\xaa"
    return 0, mbr + header(zlib.crc32(header(0))).ljust(512, b"\0") + entries
