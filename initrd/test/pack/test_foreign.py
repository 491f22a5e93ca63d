# SPDX-License-Identifier: Apache-2.0
"""sledc pack of files of strangers: they cannot make a program open another file, run on, or fill the disk.

$SLEDC, $SLED_TOOLS; SEED and MUTANTS (per format). Prints TAP.
"""

from __future__ import annotations

import gzip
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "c"))
import foreign
from tap import run_tests

SLEDC, TOOLS = os.environ["SLEDC"], Path(os.environ["SLED_TOOLS"])
MUTANTS, SEED = int(os.environ.get("MUTANTS", "4")), os.environ.get("SEED", "1")
LIMIT = 256 << 20
# What a program may open: libraries, and what it was given.
KNOWN = re.compile(r"(/usr(/local)?)?/lib(32|64)?/|/etc/ld\.so\.|/dev/null$|/proc/self/fd/1[01]$")
CALL = re.compile(r'^(\d+) +(\w+)\(.*?"([^"]*)".* = (\S+)')
work = Path(tempfile.mkdtemp())
inputs, outputs, secret = work / "in", work / "out", work / "secret"


def pack(source: Path, *words: str, under: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    (outputs / "image").unlink(missing_ok=True)
    command = [*under, SLEDC, "pack", f"in={source}", f"out={outputs / 'image'}", f"limit={LIMIT}", "level=1", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def name_of(shown: str) -> str:
    """The name that strace shows with escapes, such as \\303\\251."""
    return shown.encode("latin-1").decode("unicode_escape").encode("latin-1").decode("utf-8", "replace")


def opened(trace: Path) -> set[str]:
    """The files that confined programs opened, tried to change, or executed: others than sledc, and its verb ndz."""
    paths, others = set(), set()
    for line in trace.read_text(encoding="utf-8", errors="replace").splitlines():
        call = CALL.match(line)
        if not call or call[4] == "-1":
            continue
        if call[2] == "execve" and (name_of(call[3]) != SLEDC or '"ndz"' in line):
            others.add(call[1])
        elif call[1] in others and call[2] in ("open", "openat", "creat", "unlink", "rename", "truncate", "mkdir"):
            paths.add(call[3])
    return paths


def traced(source: Path, code: int) -> str:
    """One run, of which every program opened only what it may. Returns what it printed."""
    trace = work / "trace"
    done = pack(source, under=("strace", "-f", "-qq", "-e", "trace=%file", "-o", str(trace)))
    assert done.returncode == code, f"{source.name}: exit {done.returncode}, not {code}: {done.stderr}"
    strange = {path for path in opened(trace) if not KNOWN.match(path)}
    assert not strange, f"{source.name}: opened {strange}"
    assert str(secret) not in trace.read_text(encoding="utf-8", errors="replace"), f"{source.name}: named the secret"
    return done.stderr


def test_good() -> None:
    for name, path in good.items():
        if not any(f"a.{name}" == other for other in crafted):
            traced(path, 0)


def test_size_of_vhd() -> None:
    """The disk is what the footer declares: its end is not cut off by a geometry, and the footer is no part of it."""
    assert pack(good["raw"]).returncode == 0
    wanted = (outputs / "image").read_bytes()
    for name in ("vpc", "vpc-fixed", "vpc-geometry"):
        done = pack(good[name])
        assert done.returncode == 0 and (outputs / "image").read_bytes() == wanted, f"{name}: {done.stderr}"
    grown = inputs / "grown"
    grown.write_bytes(bytes(512) + good["vpc-fixed"].read_bytes())
    done = pack(grown, "json=yes", "sector=512")
    assert f'"bytes":{grown.stat().st_size}' in done.stdout, f"a raw disk that ends with some footer: {done.stdout}"
    grown.unlink()


def test_crafted() -> None:
    for name, (path, why) in crafted.items():
        errors = traced(path, 3)
        assert why in errors, f"{name}: {errors}"
        assert not (outputs / "image").exists(), name


def test_sets() -> None:
    """What Clonezilla and FOG saved of several disks, of logical volumes, or of partitions alone."""
    sets: dict[str, tuple[str, dict[str, str]]] = {
        "two disks of Clonezilla": ("must name one disk", {"disk": "sda sdb\n", "parts": "sda1 sdb1\n"}),
        "volumes of Clonezilla": (
            "logical volumes",
            {"disk": "sda\n", "parts": "sda1\n", "lvm_vg_dev.list": "vg /dev/sda1 x\n"},
        ),
        "partitions of Clonezilla": ("single partitions", {"parts": "sda1\n"}),
        "two disks of FOG": ("more than one disk", {"d1.partitions": "label: dos\n", "d2.partitions": "label: dos\n"}),
    }
    for name, (why, files) in sets.items():
        folder = work / name.replace(" ", "-")
        folder.mkdir()
        for file, text in files.items():
            (folder / file).write_text(text)
        done = pack(folder)
        assert done.returncode == 3 and why in done.stderr, f"{name}: exit {done.returncode}: {done.stderr}"
        assert not (outputs / "image").exists(), name
        shutil.rmtree(folder)


def test_below_the_first_check() -> None:
    """QEMU itself, as pack runs it, with a vmdk that pack would refuse."""
    target = work / "target"
    target.touch()
    words = ["qemu-img", "convert", "-f", "vmdk", "-O", "raw", "/proc/self/fd/10", "/proc/self/fd/11"]
    source = crafted["embedded.vmdk"][0]
    subprocess.run([*words[:-2], source, target], check=True)
    assert target.read_bytes().startswith(foreign.SECRET), "the input does what it was made for"
    target.write_bytes(b"")
    for way in ("landlock", "namespaces"):
        environment = {**os.environ, "SLED_TEST_JAIL": way}
        command = [TOOLS / "tool_jail", source, target, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=60)
        assert done.returncode == 1 and "Could not open" in done.stderr, f"{way}: {done.stderr}"
        assert foreign.SECRET not in target.read_bytes(), way


def test_partclone() -> None:
    """It opens nothing but the filesystem, whatever that names."""
    disk = work / "disk"
    for size, *words in (
        (8, "mke2fs", "-q", "-t", "ext4"), (320, "mkfs.xfs", "-q"), (104, "mkfs.f2fs", "-q"), (32, "mkfs.fat"),
        (32, "mkfs.ntfs", "-q", "-F", "-f"), (48, "mkfs.exfat"),
    ):  # fmt: skip
        with disk.open("wb") as file:
            file.truncate(size << 20)
        subprocess.run([*words, disk], check=True, capture_output=True)
        errors = traced(disk, 0)
        assert "is kept" not in errors, f"{words}: {errors}"
        assert "partclone" in (work / "trace").read_text(encoding="utf-8", errors="replace"), words
        disk.unlink()


def test_bombs() -> None:
    bomb = work / "bomb.gz"
    with gzip.open(bomb, "wb", 9) as file:
        for _ in range(2 * LIMIT >> 20):
            file.write(bytes(1 << 20))
    done = pack(bomb)
    assert done.returncode == 3 and f"more than {LIMIT} bytes" in done.stderr and "limit=" in done.stderr, done.stderr
    assert pack(bomb, f"limit={2 * LIMIT}").returncode == 2, "limit is given twice"


def test_messages() -> None:
    (outputs / "image").mkdir()
    done = subprocess.run(
        [SLEDC, "pack", f"in={good['raw']}", f"out={outputs / 'image'}"], capture_output=True, text=True, check=False
    )
    (outputs / "image").rmdir()
    assert done.returncode == 1 and "is a folder: name a file" in done.stderr, done.stderr
    disk = work / "ext4"
    with disk.open("wb") as file:
        file.truncate(8 << 20)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", disk], check=True)
    with disk.open("r+b") as file:
        file.seek(1024 + 100)
        file.write(b"\xff\xff\xff\x7f")  # features that nobody knows
    done = pack(disk)
    assert done.returncode == 0 and "all of it is kept" in done.stderr, done.stderr
    assert "Elapsed" not in done.stderr and "/dev/null" not in done.stderr, done.stderr
    disk.unlink()


def mutate(data: bytearray, draw: random.Random) -> None:
    """A few fields in the headers."""
    for _ in range(draw.randint(1, 6)):
        at = draw.choice((draw.randrange(96), draw.randrange(512), draw.randrange(4096), draw.randrange(len(data))))
        kind = draw.randrange(3)
        if kind == 0:
            data[at] = draw.randrange(256)
            continue
        value = draw.choice((0, 1, 1 << 31, 1 << 50, 1 << 62, 2**64 - 1, draw.getrandbits(64)))
        size = min(draw.choice((4, 8)), len(data) - at)
        data[at : at + size] = value.to_bytes(8, draw.choice(("little", "big")))[:size]


def test_mutants() -> None:
    """Whatever is in the headers: an image or a refusal, and no other file than the output is touched."""
    draw, codes = random.Random(SEED), dict.fromkeys(range(7), 0)
    before = sorted(path for path in work.rglob("*") if path.parent != outputs)
    sources = {**good, "qcow2-outside": crafted["outside.qcow2"][0]}
    for name, path in sources.items():
        for number in range(MUTANTS):
            data = bytearray(path.read_bytes())
            mutate(data, draw)
            mutant = inputs / "mutant"
            mutant.write_bytes(data)
            done = pack(mutant)
            assert done.returncode in codes, f"{name}, mutant {number} of seed {SEED}: {done.returncode} {done.stderr}"
            codes[done.returncode] += 1
            assert mutant.read_bytes() == data and secret.read_bytes() == foreign.SECRET, f"{name}, {number}"
            assert {path.name for path in outputs.iterdir()} <= {"image"}, f"{name}, {number}"
            mutant.unlink()
    assert sorted(path for path in work.rglob("*") if path.parent != outputs) == before
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert peak < 1 << 20, f"{peak} KiB of memory"
    print(f"# {len(sources)} formats x {MUTANTS} mutants, seed {SEED}: codes {codes}, at most {peak} KiB")


if __name__ == "__main__":
    inputs.mkdir()
    outputs.mkdir()
    secret.write_bytes(foreign.SECRET)
    good = foreign.make_good(inputs)
    crafted = foreign.make_crafted(inputs, good, secret)
    try:
        code = run_tests(globals())
    finally:
        shutil.rmtree(work)
    sys.exit(code)
