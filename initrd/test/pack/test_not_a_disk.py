# SPDX-License-Identifier: Apache-2.0
"""What pack must not take for the disk of a machine, and backups that are not complete. $SLEDC. Prints TAP."""

from __future__ import annotations

import gzip
import io
import os
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "disks"), str(HERE.parent / "c")]
import disks  # noqa: E402
from tap import run_tests  # noqa: E402

SLEDC = os.environ["SLEDC"]
work = Path(tempfile.mkdtemp())
disk = work / "disk.raw"


def pack(source: Path, code: int, words: str, *more: str) -> None:
    """One run, its exit code and what it prints; no image is left of one that is refused."""
    image = work / "image"
    image.unlink(missing_ok=True)
    command = [SLEDC, "pack", f"in={source}", f"out={image}", "level=1", *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == code and words in done.stderr, f"{source.name}: exit {done.returncode}: {done.stderr}"
    assert image.exists() == (code == 0), source.name


def put(name: str, data: bytes) -> Path:
    """A file that ends with whole sectors, as many archives do by chance."""
    path = work / name
    path.write_bytes(data + bytes(-len(data) % 512))
    return path


def tar(kind: int) -> bytes:
    """An archive with a disk in it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=kind) as archive:
        archive.add(disk, "disk.raw")
    return out.getvalue()


def old_tar() -> bytes:
    """Of the seventh edition: without the word ustar."""
    data = bytearray(tar(tarfile.USTAR_FORMAT))
    data[257:512] = bytes(255)
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    return bytes(data)


def disc(*, has_table: bool) -> bytes:
    """The first bytes of an ISO 9660."""
    data = bytearray(disk.read_bytes()[:1024] if has_table else 1024)
    return bytes(data + bytes(32768 - 1024) + b"\1CD001\1" + bytes(2 << 20))


def test_archives() -> None:
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.write(disk, "disk.raw")
    formats = (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT)
    for number, data in enumerate((*map(tar, formats), old_tar())):
        pack(put(f"{number}.ova", data), 3, "an archive (tar)")
        pack(put(f"{number}.tar.gz", gzip.compress(data)), 3, "an archive (tar)")
    for name, data, words in (
        ("zip", zipped.getvalue(), "an archive (zip)"),
        ("cpio", b"070701" + b"0" * 5000, "an archive (cpio)"),
        ("7z", b"7z\xbc\xaf\x27\x1c" + bytes(5000), "an archive (7z)"),
        ("rar", b"Rar!\x1a\x07\1" + bytes(5000), "an archive (rar)"),
        ("deb", b"!<arch>\n" + bytes(5000), "an archive (ar)"),
        ("simg", b"\x3a\xff\x26\xed\1" + bytes(5000), "simg2img"),
        ("wim", b"MSWIM\0\0\0" + bytes(5000), "WIM"),
        ("lzo", b"\x89LZO\0\r\n\x1a\n" + bytes(5000), "compressed (lzop)"),
        ("ntfsclone", b"\0ntfsclone-image" + bytes(5000), "ntfsclone"),
        ("iso", disc(has_table=False), "optical disc"),
    ):
        pack(put(name, data), 3, words)


def test_what_nobody_knows() -> None:
    """A file is taken for a disk without a sign of one only if its sectors are given."""
    for name, data in (
        ("text", b"a letter\n" * 4096),
        ("noise", random.Random(1).randbytes(1 << 20)),
        ("zeros", bytes(1 << 20)),
    ):
        source = put(name, data)
        pack(source, 3, "sector=")
        pack(put(f"{name}.gz", gzip.compress(source.read_bytes())), 3, "sector=")
        pack(source, 0, "", "sector=512")
    pack(put("empty", b""), 3, "0 bytes")
    boot_sector = bytearray(random.Random(2).randbytes(1 << 20))
    boot_sector[446:512] = bytes(64) + b"\x55\xaa"
    pack(put("boot-sector", bytes(boot_sector)), 0, "")
    pack(put("isohybrid", disc(has_table=True) + disk.read_bytes()[2 << 20 :]), 0, "")


def test_compressed() -> None:
    """Frames of every usual tool; a window that needs too much memory is refused by name."""
    for words, code in (
        (["zstd", "-qc", "--long=27"], 0),
        (["zstd", "-qc", "--long=30"], 0),
        (["zstd", "-qc", "--long=31"], 3),
        (["lz4", "-lqc"], 0),
    ):
        with disk.open("rb") as file, subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE) as cat:
            packed = subprocess.run(words, stdin=cat.stdout, capture_output=True, check=True).stdout
        path = work / "compressed"
        path.write_bytes(packed)
        pack(path, code, "zstd -d --long=31" if code else "")
    skipped = b"\x50\x2a\x4d\x18\x04\0\0\0abcd"  # as pzstd writes before each frame
    path.write_bytes(skipped + subprocess.run(["zstd", "-qc", disk], capture_output=True, check=True).stdout)
    pack(path, 0, "")


def backup(tool: str) -> Path:
    """A folder with an ext4, a swap with a label, and nothing else."""
    folder = work / tool
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    dump = subprocess.run(["sfdisk", "--dump", disk], capture_output=True, text=True, check=True).stdout
    dump = dump.replace(str(disk), "/dev/sda")
    data = disk.read_bytes()
    if tool == "clonezilla":
        files = {"disk": "sda\n", "parts": "sda1 sda2\n", "sda-pt.sf": dump}
        files["swappt-sda2.info"] = 'PARTUUID="x"\nUUID="0b4a2f0e-5d3e-4f55-9c33-0b1f5d0c7a11"\nLABEL="my swap"\n'
        prefix = "sda1.dd-img."
        names = ("aa", "ab", "ac")
    else:
        files = {"d1.partitions": dump, "d1.original.swapuuids": "2 0b4a2f0e-5d3e-4f55-9c33-0b1f5d0c7a11\n"}
        prefix = "d1p1.img."
        names = ("000", "001", "002")
    for name, text in files.items():
        (folder / name).write_text(text)
    for i, name in enumerate(names):
        (folder / (prefix + name)).write_bytes(data[(1 + 4 * i) << 20 : (5 + 4 * i) << 20])
    return folder


def test_complete_backups() -> None:
    for tool in ("clonezilla", "fog"):
        pack(backup(tool), 0, "")
        raw = subprocess.run(["zstd", "-dcq", work / "image"], capture_output=True, check=True).stdout
        assert raw[1 << 20 : 13 << 20] == disk.read_bytes()[1 << 20 : 13 << 20], tool
        swap = raw[13 << 20 :]
        assert swap[4086:4096] == b"SWAPSPACE2" and swap[1036:1040] == bytes.fromhex("0b4a2f0e"), tool
        assert swap[1052:1068].rstrip(b"\0") == (b"my swap" if tool == "clonezilla" else b""), tool


def test_incomplete_backups() -> None:
    def lost(pattern: str) -> Callable[[Path], None]:
        def remove(folder: Path) -> None:
            for path in list(folder.glob(pattern)):
                path.unlink()

        return remove

    def other_run(folder: Path) -> None:
        first = next(path for path in folder.iterdir() if path.suffix in (".aa", ".000"))
        stem = first.name.replace("dd-img", "ext4-ptcl-img.gz").replace("p1.img.", "p1.img_old.")
        shutil.copy(first, folder / stem)

    cases: tuple[tuple[str, Callable[[Path], None]], ...] = (
        ("no image of partition 1", lost("*1.*img*")),
        ("a piece is missing", lost("*1.*img*[b1]")),
        ("a piece is missing", lost("*1.*img*[a0]")),
        ("has 8388608 bytes", lost("*1.*img*[c2]")),
        ("of another backup", other_run),
        ("is empty", lambda folder: next(folder.glob("*1.*img*[c2]")).write_bytes(b"") and None),
    )
    for tool in ("clonezilla", "fog"):
        for words, change in cases:
            folder = backup(tool)
            change(folder)
            pack(folder, 3, words)
    folder = backup("clonezilla")
    (folder / "parts").write_text("sda1 sda2 sda7\n")
    pack(folder, 3, '"sda7"')


if __name__ == "__main__":
    disks.junk(disk, 20 * disks.MIB, 1)
    table = "label: dos\nstart=2048,size=12M,type=83\nstart=13M,size=4M,type=82\n"
    subprocess.run(["sfdisk", "-q", disk], input=table, text=True, check=True)
    try:
        code = run_tests(globals())
    finally:
        shutil.rmtree(work)
    sys.exit(code)
