# SPDX-License-Identifier: Apache-2.0
"""Disks of every kind, packed and written to another: used blocks are the same, filesystems are clean, files exist.

Needs root. Prints TAP.

test_matrix.py [NAME...]  only these disks
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "disks"), str(HERE.parent / "write")]
from disks import CONTENT, FILESYSTEMS, KINDS, MIB, Part, check_content, cut, loop, make_disk, mounted, run  # noqa: E402
from images import Image, expect, pack, run_tests, sledc, work  # noqa: E402

ALL = list(KINDS)
FILLED = 4 << 30  # a larger disk is sparse: its free space is not looked at
LAYOUTS: dict[str, tuple[str, int, list[str]]] = {
    "gpt_512": ("gpt", 512, ALL),
    "gpt_4096": ("gpt", 4096, ALL),
    "mbr_512": ("logical", 512, ALL),
    "mbr_4096": ("logical", 4096, ALL),
    "mbr_primary": ("mbr", 512, ["ext4", "xfs", "btrfs"]),
    "windows": ("mbr", 512, ["ntfs", "fat32", "ntfs"]),
} | {f"whole_disk_{kind}": ("none", 512, [kind]) for kind in ("ext4", "xfs", "ntfs", "fat32")}


def contents(image: Image) -> list[str]:
    """Of the partitions, as inspect names them."""
    done = sledc("inspect", f"in={image.path}", "json=yes")
    expect(done, 0)
    return [one["content"] for one in json.loads(done.stdout)["partitions"]]


def write_to(image: Image, target: Path) -> None:
    """To a file full of something else, as large as the disk."""
    with target.open("wb") as out:
        for _ in range(image.bytes // MIB if image.bytes < FILLED else 0):
            out.write(b"\xa5" * MIB)
        out.truncate(image.bytes)
    words = [
        f"file={target}",
        f"image=file://{image.path}",
        f"digest={image.digest}",
        *image.signed,
        "mode=full",
        "gaps=keep",
        "verify=full",
    ]
    expect(sledc("write", *words), 0)


def content(part: Part, sector: int) -> str:
    """What the image calls it. partclone 0.3.23 cannot read f2fs on sectors of 4096 bytes: it is kept whole."""
    return "data" if part.kind == "f2fs" and sector == 4096 else CONTENT.get(part.kind, part.kind)


def there_and_back(disk: Path, sector: int, parts: list[Part]) -> None:
    """Packs, writes, compares, checks."""
    target = work / "target"
    image = pack(disk)  # finds the size of sectors
    digest = hashlib.sha256(image.path.read_bytes()).digest()
    assert hashlib.sha256(pack(disk).path.read_bytes()).digest() == digest, "two images of the same disk differ"
    assert contents(image) == [content(part, sector) for part in parts], contents(image)
    write_to(image, target)
    assert not image.wrong(target), "used blocks differ"
    for part in parts:
        with cut(target, part) as device:
            check_content(part, device)
    used = sum(int.bit_count(chunk.used) for chunk in image.chunks) * 4096
    print(f"# {disk.name}: {image.bytes >> 20} MiB, {used >> 20} used, {sum(len(part.files) for part in parts)} files")
    for path in (disk, target, image.path):
        path.unlink(missing_ok=True)


def full(name: str) -> Callable[[], None]:
    """The test of one layout."""
    table, sector, kinds = LAYOUTS[name]
    disk = work / f"{name}.raw"
    return lambda: there_and_back(disk, sector, make_disk(disk, table, sector, kinds))


def sparse_3_tib() -> None:
    """Nearly nothing on a very large disk: a filesystem with a file at each end of what it gives out.

    Its sectors have numbers beyond 32 bits.
    """
    disk, target = work / "sparse.raw", work / "target"
    with disk.open("wb") as out:
        out.truncate(3 << 40)
    run("sfdisk", "--quiet", disk, input="label: gpt\nstart=1MiB\n")
    size = (3 << 40) - 2 * MIB
    part = Part("xfs", MIB, size, {})
    with partition(disk, part) as device:
        run("mkfs.xfs", "-q", "-f", "-K", device)
        with mounted("xfs", device) as root:
            for i in range(40):
                (root / f"folder{i}").mkdir()
                (root / f"folder{i}" / "file").write_bytes(bytes([i]) * 70000)
    image = pack(disk)
    write_to(image, target)
    assert not image.wrong(target), "used blocks differ"
    with partition(target, part) as device:
        run("xfs_repair", "-n", device)
        with mounted("xfs", device, "ro") as root:
            assert all((root / f"folder{i}" / "file").read_bytes() == bytes([i]) * 70000 for i in range(40))
    print(f"# sparse: file of {image.path.stat().st_size >> 20} MiB, {len(image.chunks)} chunks")
    for path in (disk, target, image.path):
        path.unlink()


def partition(disk: Path, part: Part) -> AbstractContextManager[str]:
    """A loop device of one partition."""
    return loop(disk, 512, part.start, part.size)


def main() -> int:
    """Those that are named, or all."""
    missing = [kind for kind in FILESYSTEMS if not any(kind in kinds for _, _, kinds in LAYOUTS.values())]
    assert not missing, missing
    tests: dict[str, object] = {f"test_{name}": full(name) for name in LAYOUTS} | {"test_sparse_3_tib": sparse_3_tib}
    return run_tests(
        {name: test for name, test in tests.items() if not sys.argv[1:] or name.removeprefix("test_") in sys.argv[1:]}
    )


if __name__ == "__main__":
    sys.exit(main())
