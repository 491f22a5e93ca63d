# SPDX-License-Identifier: Apache-2.0
"""sledc pack, from every form of disk, against what is worked out here.

As root: test_pack.py [NAME...]; $SLEDC. Prints TAP.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "disks"))
import disks

SLEDC = os.environ["SLEDC"]
WORK = Path(tempfile.mkdtemp(prefix="pack-", dir=os.environ.get("TMPDIR")))
RSS_MAX = 256 << 10  # KiB
WHOLE_IN_MATRIX = {"ext4", "xfs", "ntfs", "fat32"}  # without a table: ../matrix/test_matrix.py

count = failed = 0


def ok(fact: object, text: str) -> None:
    """One line of TAP."""
    global count, failed  # noqa: PLW0603
    count += 1
    failed += not fact
    print(f"{'ok' if fact else 'not ok'} {count} - {text}", flush=True)


def sledc(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SLEDC, *words], capture_output=True, text=True, check=False, timeout=600)


def pack(source: Path, out: str = "image", **operands: str) -> dict[str, str]:
    """The facts of the new image."""
    done = sledc("pack", f"in={source}", f"out={WORK / out}", "json=yes", *(f"{k}={v}" for k, v in operands.items()))
    if done.returncode:
        raise RuntimeError(f"pack {source}: exit {done.returncode}: {done.stderr}")
    facts: dict[str, str] = json.loads(done.stdout)
    return facts


def unpack(image: Path, to: Path) -> None:
    with to.open("wb") as out:
        subprocess.run(["zstd", "-dcq", "--sparse", str(image)], stdout=out, check=True)


def same(a: Path, b: Path) -> bool:
    return subprocess.run(["cmp", str(a), str(b)], check=False).returncode == 0


def refused(source: Path, code: int, word: str, text: str) -> None:
    done = sledc("pack", f"in={source}", f"out={WORK / 'none'}")
    ok(
        done.returncode == code and word in done.stderr and not (WORK / "none").exists(),
        f"{text}: {done.stderr.strip()[-150:]}",
    )


def check_disk(name: str, table: str, sector: int, kinds: list[str]) -> tuple[Path, dict[str, str]]:
    """A disk, packed: unpacks to what it should, and every filesystem in it is whole."""
    disk, want, got = WORK / f"{name}.raw", WORK / "want.raw", WORK / "got.raw"
    parts = disks.make_disk(disk, table, sector, kinds)
    disks.expect(disk, parts, want)
    facts = pack(disk, f"{name}.img")  # finds the size of sectors
    unpack(WORK / f"{name}.img", got)
    ok(same(got, want), f"{name}: unpacks to the disk with its free blocks as zeros")
    for part in parts:
        try:
            with disks.cut(got, part) as device:
                disks.check_content(part, device)
            ok(True, f"{name}: {part.kind} is whole, {len(part.files)} files")
        except (AssertionError, RuntimeError, subprocess.CalledProcessError) as fault:
            ok(False, f"{name}: {part.kind}: {fault}")
    want.unlink()
    got.unlink()
    return disk, facts


def test_tables() -> None:
    filesystems = list(disks.FILESYSTEMS)
    for name, table, sector, kinds in (
        ("gpt", "gpt", 512, [*filesystems, "swap", "lvm", "luks", "data"]),
        ("gpt4096", "gpt", 4096, ["fat32", "ext4", "xfs", "swap"]),
        ("mbr", "mbr", 512, ["ntfs", "fat16", "ext4", "data"]),
        ("logical", "logical", 512, ["ext4", "swap", "btrfs", "fat12"]),
    ):
        disk, _ = check_disk(name, table, sector, kinds)
        disk.unlink()
    for kind in sorted({*filesystems} - WHOLE_IN_MATRIX):
        disk, _ = check_disk(f"whole_{kind}", "none", 512, [kind])
        disk.unlink()


def test_forms(disk: Path, facts: dict[str, str]) -> None:
    """The same disk in every form has the same digest."""
    ok(
        pack(disk, "again.img") == facts and same(WORK / "again.img", WORK / "forms.img"),
        "a second time: the same bytes",
    )
    ok(pack(disk, "level.img", level="1")["used_bytes"] == facts["used_bytes"], "another level: the same used bytes")
    sparse = WORK / "sparse.raw"
    disks.run("cp", "--sparse=always", disk, sparse)
    ok(pack(sparse) == facts, "sparse raw")
    for form in ("qcow2", "vmdk", "vhdx", "vdi"):
        made = WORK / f"disk.{form}"
        disks.run("qemu-img", "convert", "-f", "raw", "-O", form, disk, made)
        ok(pack(made) == facts, form)
    for word, suffix in (
        ("gzip", "gz"),
        ("xz -0 -T0", "xz"),
        ("zstd -q", "zst"),
        ("bzip2 -1", "bz2"),
        ("lz4 -q", "lz4"),
    ):
        made = WORK / f"disk.{suffix}"
        with made.open("wb") as out:
            subprocess.run([*word.split(), "-c", str(disk)], stdout=out, check=True)
        ok(pack(made) == facts, f"raw.{suffix}")
        made.unlink()
    nested = WORK / "named-wrongly.xz"
    with gzip.open(nested, "wb", 1) as out, (WORK / "disk.qcow2").open("rb") as source:
        shutil.copyfileobj(source, out)
    ok(pack(nested) == facts, "qcow2 in gzip, with a name that says something else")
    with disks.loop(disk) as device:
        ok(pack(Path(device)) == facts, "a block device")
    refused(WORK / "forms.img", 3, "already", "an image is not packed again")


def save(disk: Path, part: disks.Part, out: Path, command: list[str], size: int) -> None:
    """A partition as Clonezilla and FOG keep it."""
    tool = f"partclone.{disks.TOOL.get(part.kind, part.kind)}"
    with disks.cut(disk, part) as device:
        words = [tool, *disks.NO_WAIT, "-q", "-L", "/dev/null", "-c", "-s", device, "-o", "-"]
        clone = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    data = subprocess.run(command, input=clone.stdout, stdout=subprocess.PIPE, check=True).stdout
    for i, at in enumerate(range(0, len(data), size)):
        out.with_name(out.name + f".a{chr(97 + i)}" * (size < len(data) or out.suffix != ".img")).write_bytes(
            data[at : at + size]
        )


def save_folder(disk: Path, parts: list[disks.Part], tool: str, table: str) -> Path:
    folder = WORK / f"{tool}-{table}"
    folder.mkdir()
    dump = disks.run("sfdisk", "--dump", disk).replace(str(disk), "/dev/sda")
    raw = disk.open("rb").read(disks.MIB)
    if tool == "clonezilla":
        (folder / "disk").write_text("sda\n")
        (folder / "parts").write_text(" ".join(f"sda{number_of(i, table)}" for i in range(len(parts))) + "\n")
        (folder / "sda-pt.sf").write_text(dump)
        (folder / "sda-pt.parted").write_text(f"Model:  (file)\nDisk /dev/sda: {disk.stat().st_size // 512}s\n")
        (folder / "sda-mbr").write_bytes(raw[:512])
        (folder / "sda-hidden-data-after-mbr").write_bytes(raw[512:])
        if table == "gpt":
            (folder / "sda-gpt-1st").write_bytes(raw[: 34 * 512])
            (folder / "sda-gpt-2nd").write_bytes(disk.read_bytes()[-33 * 512 :])
    else:
        (folder / "d1.partitions").write_text(dump)
        (folder / "d1.size").write_text(f"1:{disk.stat().st_size}\n")
        (folder / "d1.mbr").write_bytes(raw if table != "gpt" else raw[:512] + b"EFI PART" + bytes(17000))
    for i, part in enumerate(parts):
        number = number_of(i, table)
        if part.kind == "swap" and tool == "clonezilla":
            (folder / f"swappt-sda{number}.info").write_text(f'UUID="{disks.UUID.format(i + 1)}"\nLABEL=""\n')
        elif part.kind == "swap":
            (folder / "d1.original.swapuuids").write_text(f"{number} {disks.UUID.format(i + 1)}\n")
        elif tool == "clonezilla":
            suffix, command = (("gz", ["gzip", "-1c"]), ("zst", ["zstd", "-qc"]), ("xz", ["xz", "-0cT0"]))[i % 3]
            save(disk, part, folder / f"sda{number}.{part.kind}-ptcl-img.{suffix}", command, 3 << 20)
        else:
            save(disk, part, folder / f"d1p{number}.img", ["zstd", "-qc"] if i else ["gzip", "-1c"], 1 << 30)
    return folder


def number_of(i: int, table: str) -> int:
    return i + 1 if table != "logical" or i == 0 else i + 4


def test_folders() -> None:
    for table in ("gpt", "mbr", "logical"):
        disk = WORK / "saved.raw"
        parts = disks.make_disk(
            disk, table, 512, ["ext4", "swap", "ntfs", "exfat", "fat16"][: 4 if table == "mbr" else 5]
        )
        facts = pack(disk, gaps="drop")  # neither tool saves what is outside of partitions
        ok(pack(save_folder(disk, parts, "clonezilla", table), "clonezilla.img") == facts, f"Clonezilla, {table}")
        ok(
            pack(save_folder(disk, parts, "fog", table), "fog.img")["used_bytes"] == facts["used_bytes"],
            f"FOG, {table}",
        )
        unpack(WORK / "fog.img", WORK / "got.raw")
        for part in parts:
            with disks.cut(WORK / "got.raw", part) as device:
                disks.check_content(part, device)
        ok(True, f"FOG, {table}: every filesystem is whole")
        raw = WORK / f"fog-{table}" / f"d1p{number_of(3, table)}.img"
        raw.write_bytes(disk.read_bytes()[parts[3].start : parts[3].start + parts[3].size])
        ok(pack(WORK / f"fog-{table}")["bytes"] == facts["bytes"], f"FOG, {table}: a partition as it was")
        os.truncate(raw, parts[3].size - 512)
        refused(WORK / f"fog-{table}", 3, f"but the partition has {parts[3].size}", f"FOG, {table}: cut off")
        (WORK / f"fog-{table}" / f"d1p{number_of(2, table)}.img").unlink()
        refused(WORK / f"fog-{table}", 3, f"no image of partition {number_of(2, table)}", f"FOG, {table}, one missing")
    source = WORK / "part"
    disks.make_content("ext4", source, 64 * disks.MIB)
    facts = pack(source)
    save(source, disks.Part("ext4", 0, 64 * disks.MIB, {}), WORK / "one.img", ["cat"], 1 << 30)
    ok(pack(WORK / "one.img") == facts, "one image of partclone")
    refused(WORK, 3, "Clonezilla", "any other folder")


def test_refusals() -> None:
    part = WORK / "part"
    for kind, tool in (("ext4", "e2fsck"), ("xfs", "unmount"), ("ext2", "e2fsck")):
        disks.make_content(kind, part, disks.KINDS[kind] * disks.MIB)
        with disks.loop(part) as device, disks.mounted(kind, device) as root:
            (root / "later").write_text("x")
            disks.run("sync", "-f", root)
            shutil.copy(part, WORK / "dirty")
            done = sledc("pack", f"in={device}", f"out={WORK / 'none'}")
            ok(done.returncode == 4 and "in use" in done.stderr, f"{kind}: mounted: {done.stderr.strip()}")
        refused(WORK / "dirty", 3, tool, f"{kind}, copied while it was mounted")
    disks.junk(part, disks.KINDS["xfs"] * disks.MIB, 1)
    disks.run("mkfs.xfs", "-q", "-f", "-K", "-m", "crc=0", part)
    with part.open("r+b") as file:
        file.seek(512 + 52)  # free blocks of the first group
        file.write(b"\0\0\1\0")
    done = sledc("pack", f"in={part}", f"out={WORK / 'whole.img'}")
    unpack(WORK / "whole.img", WORK / "got.raw")
    ok(
        "all of it is kept: its map has" in done.stderr and same(part, WORK / "got.raw"),
        f"an xfs that counts other free blocks than its map has: {done.stderr.strip()}",
    )
    first, second = WORK / "one", WORK / "two"
    for file in (first, second):
        disks.junk(file, 160 * disks.MIB, 1)
    with disks.loop(first) as a, disks.loop(second) as b:
        disks.run("mkfs.btrfs", "-q", "-f", a, b)
    refused(first, 3, "several devices", "a btrfs of two devices")
    disks.make_content("ext4", part, 64 * disks.MIB)
    os.truncate(part, 60 * disks.MIB)
    refused(part, 3, "cut off", "a filesystem that was cut off")
    (WORK / "odd").write_bytes(bytes(1000))
    refused(WORK / "odd", 3, "multiple", "a size that no disk has")
    disks.run("qemu-img", "create", "-q", "-f", "qcow2", "-b", part, "-F", "raw", WORK / "backed.qcow2")
    refused(WORK / "backed.qcow2", 3, "needs another file", "a qcow2 with a backing file")
    refused(WORK / "absent", 1, "No such file", "a file that is not there")
    os.mkfifo(WORK / "fifo")
    refused(WORK / "fifo", 3, "not a file", "a FIFO that nobody writes to")


def test_kill(disk: Path) -> None:
    """A pack that was killed leaves nothing, and what was there before as it was."""
    folder = WORK / "killed"
    folder.mkdir()
    out = folder / "image"
    out.write_text("before")
    for _ in range(5):
        process = subprocess.Popen([SLEDC, "pack", f"in={disk}", f"out={out}", "level=19"], stdout=subprocess.PIPE)
        assert process.stdout
        process.stdout.readline()  # it is under way
        process.send_signal(signal.SIGKILL)
        process.wait()
        ok(
            sorted(folder.iterdir()) == [out] and out.read_text() == "before",
            "killed: nothing is left, and the old image is there",
        )
    ok(pack(disk, "killed/image") and out.stat().st_size > 6, "then it is replaced")


def test_memory(disk: Path) -> None:
    for level in ("3", "19"):
        pid = os.posix_spawnp(
            SLEDC, [SLEDC, "pack", f"in={disk}", f"out={WORK / 'memory.img'}", f"level={level}", "json=yes"], os.environ
        )
        _, status, usage = os.wait4(pid, 0)
        ok(status == 0 and usage.ru_maxrss <= RSS_MAX, f"level {level}: {usage.ru_maxrss} KiB of memory, of {RSS_MAX}")
    ok(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >= 0, "programs that it ran are counted")


def pack_huge(kind: str) -> dict[str, str]:
    """The facts of a new filesystem of 8 TiB."""
    disk = WORK / f"huge-{kind}.raw"
    disk.touch()
    os.truncate(disk, 8 << 40)
    if kind == "ext4":
        disks.run("mke2fs", "-q", "-F", "-t", "ext4", "-E", "lazy_itable_init=1,lazy_journal_init=1", disk)
    else:
        disks.run("mkfs.xfs", "-q", disk)
    return pack(disk, f"huge-{kind}.img")


def test_huge() -> None:
    kinds = ("ext4", "xfs")
    with ThreadPoolExecutor() as pool:  # partclone is one thread
        for kind, facts in zip(kinds, pool.map(pack_huge, kinds), strict=True):
            ok(int(facts["bytes"]) == 8 << 40, f"8 TiB, {kind}: {facts}")


def attempt(test: Callable[..., None], *arguments: object) -> None:
    try:
        test(*arguments)
    except Exception:
        ok(False, f"{test.__name__}: {traceback.format_exc()}".replace("\n", "\n# "))


def test_disk() -> None:
    """What needs only one disk."""
    disk, facts = check_disk("forms", "gpt", 512, ["fat16", "swap"])
    attempt(test_forms, disk, facts)
    large = WORK / "large.raw"
    disks.junk(large, 24 * disks.MIB, 7)  # at level 19, 64 MiB take four times as long and not a byte more memory
    subprocess.run(["sfdisk", "-q", large], input="label: dos\nstart=2048\n", text=True, check=True)
    attempt(test_kill, large)
    attempt(test_memory, large)


def main() -> int:
    """Every test, or those whose names are given."""
    tests = [test_tables, test_disk, test_folders, test_refusals]
    if os.environ.get("LONG") or "huge" in sys.argv[1:]:  # 150 s of CPU
        tests.append(test_huge)
    try:
        for test in tests:
            if test.__name__.removeprefix("test_") in (sys.argv[1:] or test.__name__):
                attempt(test)
    finally:
        shutil.rmtree(WORK)
    print(f"1..{count}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
