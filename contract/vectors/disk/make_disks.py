# SPDX-License-Identifier: Apache-2.0
"""Makes every disk beside it again, from ../../image.md, "What a writer keeps": `python3 make_disks.py`.

They are committed; a writer needs only them. `manifest` has one line for each: file, logical sector size, what the
writer was asked for (`-`: nothing), and the used granules of the image, as first-last,first-last...
"""

from __future__ import annotations

import os
import struct
import subprocess
import tempfile
from pathlib import Path

import zstandard
from disk import GRANULE, HEAD, KIB, MIB, UUID, Disk, put_swap, swap
from odd_tables import odd_tables, other_tables, other_types
from tables import Entry, ebr, gpt, mbr

HERE = Path(__file__).parent


def with_swap(mib: int, entries: list[Entry] | None = None) -> Disk:
    """MBR, with a swap in the first partition, at 1 MiB; `entries` are added to it."""
    disk = Disk(mib)
    mbr(disk.data, [(0, 0x82, 2048, 2048), *(entries or [])])
    put_swap(disk, MIB, MIB)
    return disk.keep(HEAD)


def loader_outside() -> dict[str, Disk]:
    """A boot loader between the first MiB and the first partition, as on many arm64 boards; zeros around it."""
    disks = {}
    for table in ("mbr", "gpt"):
        for asked in ("-", "gaps=drop"):
            disk = Disk(16)
            (mbr(disk.data, [(0, 0x82, 16384, 8192)]) if table == "mbr" else gpt(disk.data, [(16384, 24575, None)]))
            put_swap(disk, 8 * MIB, 4 * MIB)
            disk.fill(3 * MIB, 3 * MIB + 700 * KIB + 5)
            disk.asked = asked
            disk.keep(HEAD, *([(3 * MIB, 3 * MIB + 700 * KIB + 5)] if asked == "-" else []))
            if table == "gpt":
                disk.keep((16 * MIB - 33 * 512, 16 * MIB))
            disks[f"loader_outside_{table}" + ("_dropped" if asked != "-" else "")] = disk
    return disks


def isohybrid() -> Disk:
    """As Debian's installer: an entry without a type over the whole, an EFI partition inside of it."""
    disk = Disk(8)
    disk.fill(64, 7 * MIB, b"iso9660 ")
    mbr(disk.data, [(0x80, 0, 0, 8 * 2048), (0, 0xEF, 2048, 2048)])
    disk.put(MIB, swap(MIB))  # not even a free block of it may change a byte of the ISO
    return disk.keep((0, 7 * MIB), (8 * MIB - 1, 8 * MIB))


def hybrid() -> Disk:
    """A GPT, and a partition that only the MBR has; its third entry is that of the GPT's partition."""
    disk = Disk(8)
    gpt(disk.data, [(2048, 4095, None)], [(0, 0x0C, 6144, 4096), (0, 0x82, 2048, 2048)])
    put_swap(disk, MIB, MIB)
    disk.fill(3 * MIB, 4 * MIB)
    return disk.keep(HEAD, (3 * MIB, 4 * MIB), (5 * MIB - 1, 5 * MIB), (8 * MIB - 33 * 512, 8 * MIB))


def ldm() -> dict[str, Disk]:
    """Windows' dynamic disks: what looks like a swap lies anywhere in a volume; with an MBR the database is behind."""
    old = Disk(6)
    mbr(old.data, [(0, 0x42, 2048, 8192)])
    old.fill(MIB, 2 * MIB)
    old.put(MIB, swap(4 * MIB))
    old.fill(5 * MIB + 512, 6 * MIB, b"TOCBLOCK")
    old.keep(HEAD, (MIB, 2 * MIB), (5 * MIB - 1, 5 * MIB), (5 * MIB, 6 * MIB))
    new = Disk(6)
    gpt(
        new.data,
        [
            (2048, 4000, "5808C8AA-7E8F-42E0-85D2-E1E90434CFB3"),
            (4096, 10239, "AF9B60A0-1431-4F62-BC68-3311714A69AD"),
        ],
    )
    new.fill(MIB + 4096, MIB + 8192, b"PRIVHEAD")
    new.fill(2 * MIB, 3 * MIB)
    new.put(2 * MIB, swap(3 * MIB))
    new.keep(
        HEAD,
        (MIB + 4096, MIB + 8192),
        (4000 * 512, 4001 * 512),
        (2 * MIB, 3 * MIB),
        (5 * MIB - 1, 5 * MIB),
        (6 * MIB - 33 * 512, 6 * MIB),
    )
    return {"ldm_mbr": old, "ldm_gpt": new}


def extended() -> dict[str, Disk]:
    """An extended partition at 3 MiB of 4 MiB, with a swap at 4 MiB and one at 6 MiB."""
    data, more = (0, 0x82, 2048, 2048), (0, 5, 4096, 4096)
    chains: dict[str, list[tuple[int, list[Entry | None]]]] = {
        "usual": [(0, [data, more]), (4096, [data])],
        "unsigned": [(0, [data, more]), (4096, [data])],
        "data_in_slot_2": [(0, [None, None, data, more]), (4096, [data])],
        "link_first": [(0, [more, data]), (4096, [data])],
        "two_in_one": [(0, [data, more, data]), (4096, [data])],
    }
    disks = {}
    for name, chain in chains.items():
        disk = with_swap(8, [(0, 5, 6144, 8192)])
        for at, entries in chain:
            ebr(disk.data, 6144 + at, entries)
        if name == "unsigned":
            disk.put(6144 * 512 + 510, b"\0\0")
        used = set(disk.used)
        put_swap(disk, 4 * MIB, MIB)
        put_swap(disk, 6 * MIB, MIB)
        if name != "usual":
            disk.used = used
            disk.keep((4 * MIB, 5 * MIB), (6 * MIB, 7 * MIB), (7 * MIB - 1, 7 * MIB))
        disks[f"extended_{name}"] = disk.keep((3 * MIB, 3 * MIB + 512), (5 * MIB, 5 * MIB + 512))
    return disks


def sector_4096() -> dict[str, Disk]:
    """An MBR of a disk with sectors of 4,096 bytes, in a file, which does not carry that size."""
    disk = Disk(8, 4096)
    mbr(disk.data, [(0, 0x82, 256, 512)])
    put_swap(disk, MIB, 2 * MIB)
    unknown = Disk(8)  # nothing is recognised with either size: nothing is lost by taking the usual one
    mbr(unknown.data, [(0, 0x83, 256, 512)])
    unknown.fill(MIB, 2 * MIB)
    # with 512: a partition of 256 KiB at 128 KiB, kept whole, and what is before and behind it
    unknown.keep((0, 384 * KIB), (MIB, 2 * MIB))
    return {"sector_4096": disk.keep(HEAD), "sector_unknown": unknown}


def swaps() -> dict[str, Disk]:
    """Swaps, and what only has the signature of one."""
    behind = Disk(4)
    mbr(behind.data, [(0, 0x82, 2048, 6144)])
    put_swap(behind, MIB, MIB)
    behind.fill(3 * MIB, 3 * MIB + 10)
    behind.used = set()
    behind.keep(HEAD, (MIB, MIB + GRANULE), (3 * MIB, 3 * MIB + 10), (4 * MIB - 1, 4 * MIB))
    found = {"swap_smaller_than_partition": behind}
    for name, size, version in (("swap_larger_than_partition", 4 * MIB, 1), ("swap_of_version_2", 2 * MIB, 2)):
        disk = Disk(4)
        mbr(disk.data, [(0, 0x82, 2048, 4096)])
        disk.put(MIB, swap(size, version))
        found[name] = disk.keep(HEAD, (MIB, 3 * MIB))
    return found


def md(start_at: int) -> bytes:
    """A superblock of a Linux RAID, of version 1, at that byte of its member."""
    block = bytearray(256)
    struct.pack_into("<IIII", block, 0, 0xA92B4EFC, 1, 0, 0)
    block[16:32] = bytes.fromhex(UUID.replace("-", ""))
    struct.pack_into("<IIQII", block, 72, 1, 0, 4096, 0, 2)  # level, layout, sectors, chunk, disks
    struct.pack_into("<QQQ", block, 128, 2048, 4096, start_at // 512)  # data, its size, own place
    total = sum(struct.unpack("<64I", block))
    struct.pack_into("<I", block, 216, (total & 0xFFFFFFFF) + (total >> 32) & 0xFFFFFFFF)
    return bytes(block)


def bcache(magic: str) -> bytes:
    """The superblock of a bcache or a bcachefs, at byte 4,096."""
    block = bytearray(4096)
    struct.pack_into("<QQQ", block, 0, 0, 8, 1)
    block[24:40] = bytes.fromhex(magic)
    block[40:56] = bytes.fromhex(UUID.replace("-", ""))
    return bytes(block)


def zfs() -> bytes:
    """The uberblocks of a label of ZFS, at byte 128 KiB."""
    return b"".join(struct.pack("<QQQQQ", 0x00BAB10C, 5000, i, 0, 0).ljust(1024, b"\0") for i in range(128))


def drbd() -> bytes:
    """The superblock of internal metadata of DRBD 8.4 and 9, in the last 4 KiB of its device."""
    block = struct.pack(">QQQQQQQII", 4096, 0x5ED0000000000004, 0, 0, 0, 0x5ED0000000000005, 0, 1, 0x8374026B)
    block += struct.pack(">IiIiI", 264, -8, 257, -16, 4096)
    return block.ljust(4096, b"\0")


def vmfs() -> bytes:
    """The headers of a volume and of its filesystem, as ESX writes them at 1 and 2 MiB of a disk."""
    block = bytearray(MIB + 4096)
    struct.pack_into("<II", block, 0, 0xC001D00D, 5)
    struct.pack_into("<II", block, MIB, 0x2FABF15E, 5)
    return bytes(block)


def stale() -> dict[str, Disk]:
    """Members of something larger, over the signature of a swap that nobody has erased: all of the partition counts."""
    overlays = {
        "raid_1_2": (4096, md(4096)),
        "raid_1_1": (0, md(0)),
        "raid_1_0": (2 * MIB - 8192, md(2 * MIB - 8192)),
        "bcache": (4096, bcache("c68573f64e1a45ca8265f57f48ba6d81")),
        "bcachefs": (4096, bcache("c68573f666ce90a9d96a60cf803df7ef")),
        "zfs": (128 * KIB, zfs()),
        "vmfs": (MIB, vmfs()),
        "drbd": (2 * MIB - 4096, drbd()),
        "luks": (0, b"LUKS\xba\xbe\0\2" + struct.pack(">QQ", 16384, 1)),
        "lvm": (512, b"LABELONE" + struct.pack("<QII", 1, 0, 32) + b"LVM2 001"),
    }
    found = {}
    for name, (at, data) in overlays.items():
        mib = {"zfs": 64, "vmfs": 3}.get(name, 2)  # 64: the least that a device of ZFS has
        disk = Disk(mib + 2)
        mbr(disk.data, [(0, 0x83, 2048, mib * 2048)])
        disk.put(MIB, swap(mib * MIB))
        disk.fill(MIB + 64 * KIB, 2 * MIB)
        disk.put(MIB + at, data)
        found[f"{name}_over_swap"] = disk.keep(HEAD, (MIB, (1 + mib) * MIB))
    return found


def ext2(size: int, block: int = 1024) -> bytes:
    """A filesystem without a file."""
    with tempfile.NamedTemporaryFile() as file:
        os.truncate(file.name, size)
        words = ["mke2fs", "-q", "-F", "-t", "ext2", "-b", str(block), "-N", "16", "-U", UUID, "-m", "0"]
        words += ["-E", f"hash_seed={UUID}", file.name]
        subprocess.run(words, check=True, env={**os.environ, "E2FSPROGS_FAKE_TIME": "1700000000"})
        return Path(file.name).read_bytes()


def ext2_used(data: bytes, start: int) -> list[tuple[int, int]]:
    """Its used blocks, of 1,024 bytes, by its bitmap; the last one always counts."""
    (blocks,), (bitmap,) = struct.unpack_from("<I", data, 1028), struct.unpack_from("<I", data, 2048)
    used = [i for i in range(blocks - 1) if data[bitmap * 1024 + i // 8] >> i % 8 & 1]
    return [(start, start + 1024)] + [(start + (i + 1) * 1024, start + (i + 2) * 1024) for i in (*used, blocks - 2)]


def with_fat32() -> Disk:
    """MBR, with an empty FAT of 4 MiB."""
    disk = Disk(6)
    mbr(disk.data, [(0, 0x0C, 2048, 4 * 2048)])
    with tempfile.NamedTemporaryFile() as file:
        os.truncate(file.name, 4 * MIB)
        words = ["mkfs.fat", "--invariant", "-F", "32", "-s", "1", file.name]
        subprocess.run(words, check=True, capture_output=True)
        disk.put(MIB, Path(file.name).read_bytes())
    return disk


def stale_fat() -> dict[str, Disk]:
    """A member of a RAID over a FAT: the superblock lies in a sector that a FAT does not use."""
    disk = with_fat32()
    disk.put(MIB + 4096, md(4096))
    disk.fill(2 * MIB, 5 * MIB)
    return {"raid_1_2_over_fat32": disk.keep(HEAD, (MIB, 5 * MIB))}


def second_table() -> dict[str, Disk]:
    """A FAT that says that its second table alone is in use: the first one is not what counts."""
    disk = with_fat32()
    (reserved,), (size,) = (struct.unpack_from(kind, disk.data, MIB + at) for kind, at in (("<H", 14), ("<I", 36)))
    struct.pack_into("<H", disk.data, MIB + 40, 0x81)
    for cluster in range(1000, 1100):
        struct.pack_into("<I", disk.data, MIB + (reserved + size) * 512 + cluster * 4, 0x0FFFFFFF)
    start = MIB + (reserved + 2 * size + 998) * 512
    disk.fill(start, start + 100 * 512)
    return {"fat32_second_table": disk.keep(HEAD, (MIB, 5 * MIB))}


def differing_tables() -> dict[str, Disk]:
    """A FAT of which a sector of the first table is lost: only the second one has these clusters."""
    disk = with_fat32()
    (reserved,), (size,) = (struct.unpack_from(kind, disk.data, MIB + at) for kind, at in (("<H", 14), ("<I", 36)))
    for cluster in range(1000, 1100):
        struct.pack_into("<I", disk.data, MIB + (reserved + size) * 512 + cluster * 4, 0x0FFFFFFF)
    start = MIB + (reserved + 2 * size + 998) * 512
    disk.fill(start, start + 100 * 512)
    return {"fat32_tables_differ": disk.keep(HEAD, (MIB, 5 * MIB))}


def behind_filesystem() -> dict[str, Disk]:
    """What lies behind a filesystem in its partition: the hash tree of dm-verity, the metadata of DRBD; or zeros."""
    found = {}
    data = ext2(2 * MIB)
    for name, at, asked in (("tree", 0, "-"), ("tree", 0, "gaps=drop"), ("data_at_end", MIB - 128 * KIB, "-")):
        disk = Disk(5)
        mbr(disk.data, [(0, 0x83, 2048, 6144)])
        disk.fill(MIB, 3 * MIB, b"deleted ")
        used = ext2_used(data, MIB)
        for start, end in used[:-1]:
            disk.put(start, data[start - MIB : end - MIB])
        disk.fill(3 * MIB + at, 3 * MIB + at + 100 * KIB, b"hash ")
        disk.asked = asked
        disk.keep(HEAD, *used, *([] if asked != "-" else [(3 * MIB + at, 3 * MIB + at + 100 * KIB)]))
        found[f"{name}_behind_ext2" + ("_dropped" if asked != "-" else "")] = disk
    return found


def main() -> None:
    """Writes every disk and the manifest."""
    disks = {
        **loader_outside(), "isohybrid": isohybrid(), "hybrid_mbr": hybrid(), **ldm(), **extended(), **sector_4096(),
        **swaps(), **stale(), **behind_filesystem(), **other_tables(), **other_types(), **odd_tables(),
        **second_table(), **stale_fat(), **differing_tables(),
    }  # fmt: skip
    for old in HERE.glob("*.zst"):
        old.unlink()
    lines = []
    for name, disk in sorted(disks.items()):
        (HERE / f"{name}.raw.zst").write_bytes(zstandard.ZstdCompressor(level=19).compress(bytes(disk.data)))
        lines.append(f"{name}.raw.zst {disk.sector} {disk.asked} {disk.runs()}\n")
    (HERE / "manifest").write_text("".join(lines))


if __name__ == "__main__":
    main()
