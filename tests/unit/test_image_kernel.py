# SPDX-License-Identifier: Apache-2.0
"""Kernel images, from a folder, a squashfs and a container image."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from ansible_collections.sled.fleet.tests.unit.test_image_oci import (
    FILES,
    PROGRAMS,
    Ended,
    Layout,
    Registry,
    make,
    registry,
    run,
)

__all__ = ["registry"]
KERNELS = Path(os.environ.get("SLED_CACHE", Path.home() / ".cache/sled")) / "kernels"
MODULES = (
    "fs/squashfs/squashfs",
    "fs/overlayfs/overlay",
    "drivers/block/loop",
    "drivers/net/virtio_net",
    "drivers/net/net_failover",
    "net/core/failover",
    "drivers/md/dm-verity",
)


class System:
    """A part of Debian's kernel, laid out as its package is (12), or as bootc images are, with packed modules (13)."""

    def __init__(self, folder: Path, *, merged: bool = False, leave_out: str = "") -> None:
        cached = sorted(KERNELS.glob("linux-image-*-cloud-amd64_*"))
        if not cached or not all(map(shutil.which, PROGRAMS)):
            pytest.skip("make setup fetches the kernel, and installs what packs it")
        source = next(cached[-1].glob("lib/modules/*"))
        self.folder, self.release = folder, source.name
        self.modules = folder / ("usr/lib/modules" if merged else "lib/modules") / self.release
        for one in MODULES:
            if Path(one).name != leave_out:
                (self.modules / "kernel" / one).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source / f"kernel/{one}.ko", self.modules / f"kernel/{one}.ko")
        for name in ("modules.builtin", "modules.order"):
            shutil.copy(source / name, self.modules)
        (self.modules / "build").symlink_to("/usr/src/none")
        (folder / "boot").mkdir()
        self.vmlinuz = self.modules / "vmlinuz" if merged else folder / f"boot/vmlinuz-{self.release}"
        shutil.copy(cached[-1] / f"boot/vmlinuz-{self.release}", self.vmlinuz)
        if merged:
            (folder / "lib").symlink_to("usr/lib")
            (self.modules / "initramfs.img").write_bytes(b"large")
            for pack, one in zip((["xz"], ["zstd", "-q", "--rm"], ["gzip"]), MODULES, strict=False):
                run(*pack, self.modules / f"kernel/{one}.ko").check_returncode()


def kernel(out: Path, *source: str | Path) -> Ended:
    return run(FILES / "kernel", "x86_64", "3", out, *source)


def test_the_same_kernel_makes_the_same_bytes(tmp_path: Path) -> None:
    old = System(tmp_path / "old")
    new = System(tmp_path / "new", merged=True)
    for name, system in (("1", old), ("2", new)):
        ended = kernel(tmp_path / name, "folder", system.folder)
        assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes(), "whatever the layout and the packing"
    listed = run("unsquashfs", "-l", "-d", "", tmp_path / "1").stdout.split()
    folder = f"/usr/lib/modules/{old.release}"
    assert {f"{folder}/{name}" for name in ("vmlinuz", "modules.dep.bin", "kernel/drivers/block/loop.ko")} < set(listed)
    assert not [one for one in listed if one.endswith(("build", "initramfs.img"))]
    about = json.loads((tmp_path / "1.json").read_text())
    assert about == {"release": old.release, "drivers": ["dm_verity", "net_failover", "virtio_net"]}
    assert sorted(one.name for one in tmp_path.iterdir()) == ["1", "1.json", "2", "2.json", "new", "old"]


def test_modprobe_finds_the_modules(tmp_path: Path) -> None:
    system = System(tmp_path / "system", merged=True)
    kernel(tmp_path / "out", "folder", system.folder).check_returncode()
    run("unsquashfs", "-d", tmp_path / "mounted", tmp_path / "out").check_returncode()
    shown = run(
        "modprobe", "-d", tmp_path / "mounted", "-S", system.release, "-D", "virtio_net", PATH="/usr/sbin:/sbin"
    )
    assert [Path(line.split()[1]).name for line in shown.stdout.splitlines()] == [
        "failover.ko",
        "net_failover.ko",
        "virtio_net.ko",
    ]


def test_from_a_registry(registry: Registry, tmp_path: Path) -> None:
    system = System(tmp_path / "system", merged=True)
    layout = Layout(tmp_path / "layout")
    for path in sorted(system.modules.rglob("*")):
        if path.is_file() and not path.is_symlink():
            layout.add(str(path.relative_to(system.folder)), path.read_bytes())
    make(registry, registry.push(layout, "kernel:1"), tmp_path / "root").check_returncode()
    kernel(tmp_path / "1", "squashfs", tmp_path / "root").check_returncode()
    kernel(tmp_path / "2", "folder", system.folder).check_returncode()
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


@pytest.mark.parametrize("name", ["squashfs", "overlay", "loop"])
def test_what_is_missing_is_named(tmp_path: Path, name: str) -> None:
    system = System(tmp_path / "system", leave_out=name)
    ended = kernel(tmp_path / "out", "folder", system.folder)
    assert ended.returncode == 1
    assert f"{system.release} lacks {name}, built in or as a module" in ended.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["system"], "nothing is left"
    with (system.modules / "modules.builtin").open("a") as builtin:
        builtin.write(f"kernel/somewhere/{name}.ko\n")
    assert kernel(tmp_path / "out", "folder", system.folder).returncode == 0, "built in"


def test_a_system_that_is_no_kernel(tmp_path: Path) -> None:
    system = System(tmp_path / "system")

    def says() -> str:
        ended = kernel(tmp_path / "out", "folder", system.folder)
        assert ended.returncode == 1
        return ended.stderr

    content = system.vmlinuz.read_bytes()
    system.vmlinuz.write_bytes(content.replace(b"HdrS", b"none", 1))
    assert "no Linux for x86_64" in says()
    system.vmlinuz.unlink()
    assert f"no /boot/vmlinuz-{system.release}" in says()
    system.vmlinuz.write_bytes(content)
    (system.modules.parent / "6.0").mkdir()
    assert "several kernels" in says()
    shutil.rmtree(system.modules.parent)
    assert "no modules in /usr/lib/modules" in says()
