# SPDX-License-Identifier: Apache-2.0
"""Images of kernels that are started instead of an installed system."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path

import pytest
from ansible_collections.sled.fleet.tests.unit.test_image_oci import FILES, Ended, run

pytestmark = pytest.mark.skipif(not shutil.which("mksquashfs"), reason="make setup installs squashfs-tools")
HEADER = struct.pack("<III", 0x1BADB002, 3, (-0x1BADB002 - 3) & 0xFFFFFFFF)
PVH = struct.pack("<III4s", 4, 4, 18, b"Xen\0")


def elf(bits: int, at: int, content: bytes) -> bytes:
    return (b"\x7fELF" + bytes([bits // 32]) + b"\1\1").ljust(at, b"\0") + content + bytes(64)


def payload(folder: Path, kernel: bytes, *modules: str, form: str = "multiboot", real_mode: str = "no") -> Ended:
    (folder / "kernel").write_bytes(kernel)
    return run(FILES / "payload", form, real_mode, "3", folder / "out", folder / "kernel", *modules)


def test_the_files_of_a_payload(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"module {name}")
    modules = [f"{tmp_path}/b root=/dev/ram0 quiet", f"{tmp_path}/a"]
    payload(tmp_path, elf(32, 8180, HEADER), *modules).check_returncode()
    first = (tmp_path / "out").read_bytes()
    run("unsquashfs", "-quiet", "-d", tmp_path / "tree", tmp_path / "out").check_returncode()
    found = {str(one.relative_to(tmp_path / "tree")): one for one in (tmp_path / "tree").rglob("*") if one.is_file()}
    assert sorted(found) == ["kernel", "modules/01", "modules/01.arguments", "modules/02"]
    assert found["modules/01"].read_text() == "module b", "in the order of the list"
    assert found["modules/01.arguments"].read_text() == "root=/dev/ram0 quiet"
    payload(tmp_path, elf(32, 8180, HEADER), *modules).check_returncode()
    assert (tmp_path / "out").read_bytes() == first


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (elf(64, 4096, HEADER), "objcopy -O elf32-i386"),
        (elf(32, 8184, HEADER), "header of multiboot at byte 8184"),
        (elf(64, 0x44008, HEADER), "header of multiboot at byte 278536"),
        (elf(64, 4096, PVH), "PVH"),
        (elf(32, 4096, struct.pack("<I", 0xE85250D6)), "multiboot 2 only"),
        (elf(32, 4096, b""), "no header of multiboot 1"),
        (elf(32, 4098, HEADER), "no header of multiboot 1"),
        (elf(32, 4096, HEADER[:8] + bytes(4)), "no header of multiboot 1"),
        (bytes(4096) + HEADER, "no ELF"),
    ],
)
def test_what_kexec_would_refuse(tmp_path: Path, kernel: bytes, reason: str) -> None:
    ended = payload(tmp_path, kernel)
    assert ended.returncode == 1
    assert reason in ended.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["kernel"], "nothing is left"


def test_linux(tmp_path: Path) -> None:
    linux = bytes(514) + b"HdrS" + bytes(4096)
    (tmp_path / "initrd").write_text("initrd")
    assert payload(tmp_path, linux, f"{tmp_path}/initrd", form="linux", real_mode="yes").returncode == 0
    assert "no HdrS" in payload(tmp_path, elf(32, 4096, HEADER), form="linux").stderr
    both = payload(tmp_path, linux, f"{tmp_path}/initrd", f"{tmp_path}/initrd", form="linux")
    assert "one initrd, not 2 modules" in both.stderr
    assert "has no arguments" in payload(tmp_path, linux, f"{tmp_path}/initrd quiet", form="linux").stderr
    assert "real_mode is for format linux" in payload(tmp_path, elf(32, 64, HEADER), real_mode="yes").stderr


def test_another_input_makes_another_image(tmp_path: Path) -> None:
    (tmp_path / "kernel").write_bytes(elf(32, 4096, HEADER))
    (tmp_path / "one").write_text("one")
    sledc = tmp_path / "sledc"
    sledc.write_text(
        "#!/usr/bin/env python3\nimport sys, urllib.parse as u\n"
        "out = next(a[4:] for a in sys.argv if a.startswith('out='))\nopen(u.unquote(out), 'w').close()\nprint('{}')\n"
    )
    sledc.chmod(0o755)

    def made(modules: str, real_mode: str = "no") -> tuple[str, bool]:
        ended = run(
            FILES / "image",
            "payload",
            f"cache={tmp_path}/cache",
            f"sledc={sledc}",
            "name=p",
            "level=3",
            f"source={tmp_path}/kernel",
            "format=multiboot",
            f"real_mode={real_mode}",
            f"modules={modules}",
            "kind=payload",
        )
        ended.check_returncode()
        lines = ended.stdout.splitlines()
        return json.loads(lines[0])["file"], lines[-1] == "made"

    first, fresh = made(f"{tmp_path}/one a")
    assert fresh
    assert made(f"{tmp_path}/one a") == (first, False)
    assert made(f"{tmp_path}/one b")[0] != first
    (tmp_path / "one").write_text("two")
    assert made(f"{tmp_path}/one a")[0] != first
