# SPDX-License-Identifier: Apache-2.0
"""sledc pack of what LVM or LUKS holds, in a virtual machine: the kernel of a test machine may have no device mapper.

$SLEDC. Prints TAP.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
KERNEL = HERE.parents[1] / "tools/kernel"
MODULES = ("loop", "dm-mod", "dm-crypt", "aes_generic", "ecb", "xts", "sha256_generic")
PROGRAMS = (os.environ["SLEDC"], "losetup", "sfdisk", "cryptsetup", "lvm", "dmsetup")
QEMU = ["qemu-system-x86_64", "-accel", "tcg", "-m", "512", "-nodefaults", "-display", "none", "-no-reboot"]
work = Path(tempfile.mkdtemp())
tree = work / "tree"

# Each line of `pack` is one test: exit code, words of the message, what is packed.
INIT = r"""#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin DM_DISABLE_UDEV=1 LVM_SUPPRESS_FD_WARNINGS=1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /tmp /run/lock/lvm /etc/lvm
for module in $(cat /modules); do modprobe "$module"; done
echo 'activation { udev_sync=0 udev_rules=0 monitoring=0 } devices { scan_lvs=0 use_devicesfile=0 }' >/etc/lvm/lvm.conf
must() { "$@" >/log 2>&1 || { echo "not ok - $*"; cat /log; }; }
pack() {
	code=0
	sledc pack in="$3" out=/tmp/image level=1 >/log 2>&1 || code=$?
	if [ "$code" = "$1" ] && grep -q "$2" /log; then echo "ok - $4"; else echo "not ok - $4: exit $code"; cat /log; fi
	rm -f /tmp/image
}
{
	truncate -s 32M /luks /lvm
	must losetup /dev/loop0 /luks
	echo secret >/key
	must cryptsetup -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 luksFormat /dev/loop0 /key
	must cryptsetup --key-file /key open /dev/loop0 secret
	pack 4 'in use: its loop device loop0 is held by dm-0 (secret): .*deactivate' /luks 'the file below an open LUKS'
	pack 4 'in use: loop0 is held by dm-0 (secret): .*deactivate' /dev/loop0 'its device'
	pack 0 . /dev/mapper/secret 'what is inside of it, which nobody uses'
	must cryptsetup close secret
	pack 0 . /luks 'the file of a closed LUKS'
	pack 0 . /dev/loop0 'its device, closed'

	echo 'start=2048' | must sfdisk -q -X dos /lvm
	must losetup -P /dev/loop1 /lvm
	must lvm vgcreate fleet /dev/loop1p1
	must lvm lvcreate -y -W n -Z n -n root -L 8M fleet
	pack 4 'in use: its loop device loop1 is held by dm-0 (fleet-root): ' /lvm 'the file of an active LVM'
	pack 4 'in use: loop1 is held by dm-0 (fleet-root): ' /dev/loop1 'its disk, of which a partition is a member'
	pack 4 'in use: loop1 is held by dm-0 (fleet-root): ' /dev/loop1p1 'the member'
	must lvm vgchange -an fleet
	pack 0 . /lvm 'the file of an inactive LVM'
	pack 0 . /dev/loop1 'its disk, inactive'

	must dmsetup create copy --table '0 65536 linear /dev/loop0 0'
	pack 4 'in use: its loop device loop0 is held by dm-0 (copy): ' /luks 'any other mapping'
	must dmsetup remove copy
	echo 'the end'
} >/dev/ttyS0 2>&1
poweroff -f
"""


def copy(source: Path, name: str) -> None:
    """A program or a library, with the libraries that it needs."""
    target = tree / name
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    done = subprocess.run(["ldd", source], capture_output=True, text=True, check=False)
    for library in re.findall(r"(/\S+) \(0x", done.stdout):
        copy(Path(library).resolve(), library[1:])


def add_modules(kernel: Path) -> None:
    release = next((kernel / "lib/modules").iterdir()).name
    for module in MODULES:
        words = ["modprobe", "-C", "/dev/null", "-d", str(kernel), "-S", release, "--show-depends", module]
        lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        for path in re.findall(r"^insmod (\S+)", lines, re.MULTILINE):
            target = tree / Path(path).relative_to(kernel)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    for path in (kernel / "lib/modules" / release).glob("modules.builtin*"):
        shutil.copy(path, tree / "lib/modules" / release)
    shutil.copy(kernel / "lib/modules" / release / "modules.order", tree / "lib/modules" / release)
    subprocess.run(["depmod", "-b", tree, release], check=True)


def make_system() -> tuple[Path, Path]:
    """Kernel and initrd."""
    kernel = Path(subprocess.run([KERNEL, "cloud", "amd64"], capture_output=True, text=True, check=True).stdout.strip())
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    for name in ("bin", "proc", "sys", "dev"):
        (tree / name).mkdir(parents=True)
    shutil.copy("/bin/busybox", tree / "bin/busybox")
    for program in PROGRAMS:
        found = shutil.which(program, path=path)
        assert found, f"{program} is not installed"
        copy(Path(found), f"bin/{Path(found).name}")
    add_modules(kernel)
    (tree / "modules").write_text("\n".join(MODULES))
    (tree / "init").write_text(INIT)
    (tree / "init").chmod(0o755)
    initrd = work / "initrd"
    files = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
    with initrd.open("wb") as out:
        words = ["cpio", "-o", "-H", "newc", "-R", "0:0", "--quiet"]
        subprocess.run(words, input=files.encode(), stdout=out, cwd=tree, check=True)
    return next((kernel / "boot").glob("vmlinuz-*")), initrd


def main() -> int:
    kernel, initrd = make_system()
    words = [*QEMU, "-kernel", str(kernel), "-initrd", str(initrd), "-append", "console=ttyS0 quiet panic=-1"]
    done = subprocess.run(
        [*words, "-serial", "stdio"], capture_output=True, text=True, check=True, timeout=900, errors="replace"
    )
    lines = [line.strip() for line in done.stdout.splitlines()]
    tests = [line for line in lines if line.startswith(("ok - ", "not ok - "))]
    failed = "the end" not in lines or any(line.startswith("not ok") for line in tests)
    print("\n".join(tests if not failed else lines))
    print(f"1..{len(tests)}")
    return int(failed or len(tests) != INIT.count("\n\tpack "))


if __name__ == "__main__":
    try:
        code = main()
    finally:
        shutil.rmtree(work)
    sys.exit(code)
