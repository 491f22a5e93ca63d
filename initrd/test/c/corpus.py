# SPDX-License-Identifier: Apache-2.0
"""Makes the binary seeds of the fuzzers: corpus.py DIRECTORY. Those that are text are in corpus/."""

from __future__ import annotations

import runpy
import struct
import sys
import zlib
from pathlib import Path

import imagezip
import members

SECTOR = 512  # bytes; the disk of fuzz_table.c has 1,024 of them


def gpt() -> bytes:
    """A protective MBR, header and four entries, two of them used."""
    entries = b""
    for start, end in ((64, 127), (128, 255)):
        entries += b"\x11" * 32 + struct.pack("<QQQ", start, end, 0) + bytes(72)
    entries += bytes(256)
    header = struct.pack(
        "<8s4sIIIQQQQ16sQIII",
        b"EFI PART",
        b"\0\0\1\0",
        92,
        0,
        0,
        1,
        1023,
        34,
        990,
        b"g" * 16,
        2,
        4,
        128,
        zlib.crc32(entries),
    )
    header = header[:16] + struct.pack("<I", zlib.crc32(header)) + header[20:]
    return mbr((0xEE, 1, 1023)) + header.ljust(SECTOR, b"\0") + entries


def mbr(*partitions: tuple[int, int, int]) -> bytes:
    """A first sector with those (type, start, count)."""
    table = b"".join(struct.pack("<B3sB3sII", 0, b"", kind, b"", start, count) for kind, start, count in partitions)
    return bytes(446) + table.ljust(64, b"\0") + b"\x55\xaa"


def logical() -> bytes:
    """An extended partition with two logical ones."""
    disk = bytearray(300 * SECTOR)
    disk[:SECTOR] = mbr((0x83, 10, 20), (0x05, 100, 200))
    disk[100 * SECTOR : 101 * SECTOR] = mbr((0x83, 2, 20), (0x05, 50, 50))
    disk[150 * SECTOR : 151 * SECTOR] = mbr((0x83, 2, 20))
    return bytes(disk[: 151 * SECTOR])


def superblock(at: int, magic: bytes) -> bytes:
    """A partition of 8 KiB with those bytes there."""
    return (bytes(at) + magic).ljust(8192, b"\0")


def xfs() -> bytes:
    """A superblock whose log, of 16 KiB, holds the record of an unmount."""
    super_ = bytearray(512)
    struct.pack_into(">4sI", super_, 0, b"XFSB", 4096)
    struct.pack_into(">Q", super_, 48, 1)
    struct.pack_into(">II", super_, 84, 64, 1)
    struct.pack_into(">I", super_, 96, 4)
    super_[124] = 6
    record = bytearray(512)
    struct.pack_into(">IIIIQ", record, 0, 0xFEEDBABE, 1, 2, 512, 1 << 32)
    struct.pack_into(">I", record, 40, 1)
    return (bytes(super_).ljust(4096, b"\0") + bytes(record) + bytes(9) + b"\x20").ljust(20480, b"\0")


def disklabel() -> bytes:
    """Of a slice of 1,000 sectors: three partitions of eight."""
    label = bytearray(276)
    struct.pack_into("<H", label, 138, 8)
    for i, (start, size, kind) in enumerate(((100, 400, 7), (500, 100, 1), (100, 1000, 0))):
        struct.pack_into("<IIIB", label, 148 + 16 * i, size, start, 2048, kind)
    return struct.pack("<II", 100, 1000) + bytes(label)


def image(name: str) -> tuple[bytes, bytes]:
    """A vector of the contract: its index, and the frame of its first chunk with the prefix for fuzz_frame.c."""
    data = (Path(__file__).parents[3] / "contract/vectors/image/ok" / f"{name}.raw.zst").read_bytes()
    table = 8 + 8 * struct.unpack("<I", data[-9:-5])[0] + 9
    at, size = struct.unpack_from("<QQ", data, len(data) - table - 136 + 16)
    index = data[at : at + size]
    entry = index[40 + 40 * struct.unpack_from("<I", index, 36)[0] :]
    _, frame_at, frame = struct.unpack_from("<QQI", entry)
    return index, b"\xff" + entry[20:52] + data[frame_at : frame_at + frame]


def packet(name: str) -> bytes:
    """A packet of multicast, from the vectors of the contract."""
    cases = runpy.run_path(str(Path(__file__).parents[3] / "contract/vectors/cases.py"))
    lines = dict(line.split(" ", 1) for line in cases["read"]("multicast/ok")[name].decode("ascii").splitlines())
    return bytes.fromhex(lines["hex"])


def gather() -> bytes:
    """Steps of fuzz_gather.c: a NEED, symbols of chunk 6, one lost, its turn passes, a NEED, parity, the frame."""
    need, wait, take = bytes([4]).ljust(8, b"\0"), bytes([1, 50]).ljust(8, b"\0"), bytes([3]).ljust(8, b"\0")
    first, third, parity = (bytes([5, 6, 0, symbol, 0, 1, 0, 0]) for symbol in (0, 2, 128))
    return need + first + third + wait + bytes([5, 7, 0, 0, 1, 1, 0, 0]) + wait + need + parity + take


def carousel() -> bytes:
    """NEEDs of fuzz_carousel.c by two clients: chunks, then parity."""
    chunks = bytes([35, 1, 0, 0, 4, 0, 0, 0])
    parity = bytes([35, 0, 1, 20, 0, 0, 0, 0])
    return b"".join(
        bytes([1, 0, client, 100, 3, 0, 60, 255]) + entry
        for client, entry in ((1, chunks), (2, chunks), (1, chunks), (2, parity), (1, parity))
    )


def nvme() -> dict[str, bytes]:
    """Pages of NVMe drives for fuzz_nvme.c, whose first byte selects the structure."""
    controller = bytearray(1024)
    controller[4:64] = b"S1".ljust(20) + b"MODEL 9".ljust(40)
    struct.pack_into("<H", controller, 256, 0x0A)  # OACS: Format, Namespace Management
    struct.pack_into("<I", controller, 328, 3)  # SANICAP: crypto, block
    struct.pack_into("<I", controller, 516, 32)
    controller[524] = 4  # FNA: crypto
    controller[768:794] = b"nqn.2014.08.org.example:S1"
    namespace = bytearray(384)
    struct.pack_into("<QQ", namespace, 0, 1 << 20, 1 << 20)
    namespace[25:30] = bytes([63, 0x71, 0, 0, 0x0A])  # 64 formats, the 50th, protection of type 2
    log = struct.pack("<HHIIII", 655, 2, 4, 0xFFFFFFFF, 120, 3)
    return {
        "nvme/controller": b"\0" + bytes(controller),
        "nvme/namespace": b"\1" + bytes(namespace),
        "nvme/list": b"\2" + struct.pack("<III", 1, 2, 9),
        "nvme/sanitize": b"\3" + log,
        "nvme/short": b"\x83" + log,
    }


def scsi() -> dict[str, bytes]:
    """What SCSI drives return, for fuzz_scsi.c, whose first byte selects the structure."""
    inquiry = bytes([0, 0, 7, 2, 91, 0, 0, 0]) + b"SEAGATE ST1800MM0129    CT02"
    fixed = bytes([0x70, 0, 2, 0, 0, 0, 0, 10, 0, 0, 0, 0, 4, 0x1B, 0, 0x80, 0x02, 0x8F])
    descriptors = bytes([0x72, 2, 4, 0x1B, 0, 0, 0, 16, 0, 6, 0, 0, 0, 0, 0, 0, 2, 6, 0, 0, 0x80, 0x12, 0x34, 0])
    report = bytes([0, 0x83, 0, 10]) + bytes(10) + bytes([0, 10, 0, 0]) + struct.pack(">II", 60, 3600)
    return {
        "scsi/inquiry": b"\0" + inquiry,
        "scsi/fixed": b"\1" + fixed,
        "scsi/descriptors": b"\1" + descriptors,
        "scsi/report": b"\2" + report,
    }


def ata() -> dict[str, bytes]:
    """What ATA drives return, for fuzz_ata.c, whose first byte selects the structure."""
    identity = bytearray(512)
    identity[20:40] = b"1S".ljust(20)
    identity[54:94] = b"SS D9".ljust(40)
    struct.pack_into("<H", identity, 118, 0xF000)
    identity[510] = 0xA5
    sense = bytes([0x72, 1, 0, 0x1D, 0, 0, 0, 14, 9, 12, 1, 0, 0x40, 0, 0, 0x8F, 0, 2, 0, 0, 0x40, 0x50])
    overlay = struct.pack("<HIQ", 2, 0, 0x1FFF)[:64].ljust(64, b"\0")
    return {
        "ata/identity": b"\0" + bytes(identity),
        "ata/registers": b"\1" + sense,
        "ata/overlay": b"\2" + overlay,
    }


def mmc() -> dict[str, bytes]:
    """Extended CSDs of eMMC for fuzz_mmc.c, from byte 192 on; bit 7 of the first byte: no more than these bytes."""
    small, large = bytearray(320), bytearray(320)
    for page, revision, sectors, group, factor in ((small, 8, 0x1000, 1, 10), (large, 7, 0x1D5A000, 8, 255)):
        page[0] = revision
        struct.pack_into("<I", page, 212 - 192, sectors)
        page[223 - 192], page[224 - 192], page[230 - 192], page[231 - 192] = 1, group, factor, 0x55
    return {"mmc/small": b"\0" + bytes(small), "mmc/large": b"\0" + bytes(large), "mmc/short": b"\x80" + bytes(200)}


def psids() -> dict[str, bytes]:
    """Files of PSIDs for fuzz_psids.c."""
    psid = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
    return {
        "psids/good": b"# rack\nS1 " + psid + b"\nS 2\tabcdefgh-ijklmnop-qrstuvwx-yz012345\r\n",
        "psids/bad": psid + b"\nS1 short\n",
    }


def verity() -> dict[str, bytes]:
    """Two blocks and their tree for fuzz_verity.c: bytes of the image, head of the squashfs, superblock, hashes."""
    squashfs = struct.pack("<4s36xQ48x", b"hsqs", 5000)
    head = struct.pack("<8sII16x32sIIQHxxxxxx256s", b"verity", 1, 1, b"sha256", 4096, 4096, 2, 4, b"salt")
    return {"verity/two": struct.pack("<Q", 16384) + squashfs + head.ljust(4096, b"\0") + bytes(range(64))}


def ndz() -> dict[str, bytes]:
    """Files of imagezip with two chunks, of each version, for fuzz_ndz.c."""
    disk = bytes(SECTOR) + bytes(range(256)) * 38
    seeds = {}
    for version in range(1, 6):
        first, second = imagezip.plan(disk, [(0, 2), (4, 9), (15, 2)], 8)
        first.total = second.total = 2 * (version == 1)
        data = first.pack(version)
        seeds[f"ndz/{version}"] = struct.pack("<H", len(data)) + data + second.pack(version)
    return seeds


def main(directory: Path) -> None:
    """Writes every seed."""
    seeds = {
        "index/gaps": image("gaps")[0],
        "index/sector_4096": image("sector_4096")[0],
        "index/short": image("last_chunk_short")[0],
        "frame/gaps": image("gaps")[1],
        "frame/whole": image("one_chunk")[1],
        "table/gpt": gpt(),
        "table/mbr": mbr((0x83, 64, 100), (0x0C, 200, 100)),
        "table/extended": mbr((0x83, 64, 100), (0x05, 200, 100)),
        "table/logical": logical(),
        "probe/ext4": superblock(1080, b"\x53\xef\x01\0"),
        "probe/xfs": xfs(),
        "probe/f2fs": superblock(1024, b"\x10\x20\xf5\xf2"),
        "probe/ntfs": bytes(3) + b"NTFS    " + bytes(499) + b"\x55\xaa",
        "probe/swap": superblock(4086, b"SWAPSPACE2"),
        "probe/qcow2": b"QFI\xfb\0\0\0\3" + bytes(96),
        "map/map": b"# comment\n0x00010000     ?\n0x00000000  0x00001000  +\n0x00001000  0x0000f000  ?\n",
        "map/dump": b"label: gpt\nlast-lba: 20446\nsector-size: 512\n/dev/sda1 : start= 2048, size= 4096, type=Y\n",
        "lvm/volume": bytes(512) + members.lvm("A-1", 2, 12288, start=8100, room=8192)[1],
        "lvm/text": members.metadata("A-1", 2),
        "disklabel/slice": disklabel(),
        "ufs/ufs2": b"\1\0\6\1\0",
        "fit/larger": b"\2\0\0\0" + struct.pack("<II", 1023, 65535) + gpt(),
        "fit/smaller": b"\2\0\0\0" + struct.pack("<II", 1023, 899) + gpt(),
        "gather/frame": gather(),
        "carousel/needs": carousel(),
        "packet/data": packet("data"),
        "packet/repair": packet("data_repair_last"),
        "packet/need": packet("need_of_both_kinds"),
        "packet/announce": packet("announce_alone"),
        "packet/stats": packet("stats"),
    }
    for name, data in (seeds | nvme() | scsi() | ata() | mmc() | psids() | verity() | ndz()).items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
