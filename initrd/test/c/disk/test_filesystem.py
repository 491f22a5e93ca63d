# SPDX-License-Identifier: Apache-2.0
"""sledc filesystem: the filesystems in a partition, for a file in its place. Prints TAP."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tap import run_tests

SLEDC = os.environ["SLEDC"]
SIZE = 16 << 20
work = Path(tempfile.mkdtemp())


def partition(name: str) -> Path:
    """A file of zeros."""
    file = work / name
    with file.open("wb") as opened:
        opened.truncate(SIZE)
    return file


def put(file: Path, offset: int, data: bytes) -> None:
    with file.open("r+b") as opened:
        opened.seek(offset)
        opened.write(data)


def ask(file: Path | str, *names: str) -> subprocess.CompletedProcess[str]:
    words = [SLEDC, "filesystem", f"device={file}", *names]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)


def types(file: Path) -> list[str]:
    done = ask(file)
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout.splitlines()


def refused(file: Path | str, code: int, reason: str) -> None:
    done = ask(file)
    assert done.returncode == code and not done.stdout and reason in done.stderr, done


def make(name: str, *options: str) -> Path:
    file = partition(name)
    subprocess.run(["mke2fs", "-q", "-F", *options, file], check=True, timeout=60)
    return file


def test_ext() -> None:
    assert types(make("ext4", "-t", "ext4")) == ["ext4"]
    assert types(make("ext3", "-t", "ext3")) == ["ext3"]


def test_names() -> None:
    """Only the filesystem that has the name."""
    uuid = "11111111-2222-4333-8444-555555555555"
    file = make("named", "-t", "ext4", "-U", uuid, "-L", "system")
    for words in ([f"uuid={uuid}"], ["label=system"], [f"uuid={uuid}", "label=system"]):
        assert ask(file, *words).stdout == "ext4\n", words
    for words in (["uuid=1"], ["label=System"], [f"uuid={uuid}", "label="]):
        done = ask(file, *words)
        assert done.returncode == 0 and not done.stdout, (words, done)


def test_several() -> None:
    """What an earlier filesystem left does not hide the present one: the caller tries each."""
    file = make("several", "-t", "ext4")
    put(file, 0x10040, b"_BHRfS_M")
    assert sorted(types(file)) == ["btrfs", "ext4"], types(file)


def test_behind() -> None:
    """Of a filesystem of 8 MiB on 16: where the granule begins that is not zero."""
    file = make("behind", "-t", "ext4", "-b", "4096")
    subprocess.run(["resize2fs", file, "8M"], check=True, capture_output=True, timeout=60)
    put(file, 8 << 20, bytes(SIZE - (8 << 20)))
    assert ask(file, "behind=yes").stdout == ""
    put(file, SIZE - 1, b"x")
    done = ask(file, "behind=yes")
    assert done.returncode == 0 and done.stdout == f"{SIZE - 4096}\n", done
    put(file, 8 << 20, b"x")
    assert ask(file, "behind=yes").stdout == f"{8 << 20}\n"
    assert types(file) == ["ext4"] and ask(partition("nothing"), "behind=yes").stdout == ""


def test_no_filesystem() -> None:
    assert types(partition("zeros")) == []
    noise = partition("noise")
    put(noise, 0, bytes(range(1, 255)) * 4096)
    assert types(noise) == []


def test_other_contents_are_no_filesystem() -> None:
    swap, luks = partition("swap"), partition("luks")
    put(swap, 4086, b"SWAPSPACE2")
    put(swap, 1024, (1).to_bytes(4, "little") + (SIZE // 4096 - 1).to_bytes(4, "little"))
    put(luks, 0, b"LUKS\xba\xbe\x00\x01")
    assert types(swap) == [] and types(luks) == []


def test_what_cannot_be_read_is_an_error() -> None:
    """/proc/self/mem is a regular file whose first bytes, those of address 0, give EIO."""
    refused("/proc/self/mem", 1, "/proc/self/mem: reading signatures: Input/output error")
    refused(work / "missing", 1, "No such file")
    refused(work, 2, "neither a block device nor a regular file")
    refused("/dev/null", 2, "neither a block device nor a regular file")
    (work / "short").write_bytes(b"x" * 511)
    refused(work / "short", 1, "511 bytes")


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
