# SPDX-License-Identifier: Apache-2.0
"""What names.py and border.py find, and what they leave alone. Prints TAP."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "c"))
import border
import names
import tap


def foreign(text: str) -> list[str]:
    """Names in the part disk.sh that are not its own."""
    return [name for _, name in names.names(names.code(text)) if names.foreign(name, "disk")]


def test_functions_and_variables() -> None:
    assert foreign("attach() {\n\tway=1 disk_x=$(a b) number=2\n}\n") == ["attach", "number", "way"]
    assert foreign("disk_a() (\n\tfor way in a; do read -r first _ <f; done\n)\n") == ["first", "way"]
    assert foreign("if x=$(a); then\n\ty && z=1 || { w=2; }\nfi\n") == ["x", "w", "z"]


def test_what_is_no_name() -> None:
    assert foreign("step_wipe() { :; }\nexport SLED_CA=a\n# b=1\ndisk_a 'c=1' out=2 \"d=$1\"\n") == []
    assert foreign("disk_a <<-'END'\n\te=1\n\tEND\n") == []


def reaches(line: str) -> bool:
    """Whether border.py finds that line in a function that judges a mounted folder."""
    return bool(border.bad_shell(f"disk_judge() {{\n\t{line}\n}}\n", {"disk_judge"}))


def test_planted_lines() -> None:
    planted = """
        echo n1 >"$disk_root/etc/hostname"
        cat <${disk_root}/etc/hosts
        cp a "$disk_root$b"
        mv -f a "$disk_root"/b
        ln -sf a "$disk_boot/b"
        sed -i s/a/b/ $disk_root/etc/fstab
        [ -e "$disk_separate/vmlinuz" ]
        for f in "$bootorder_esp"/EFI/*; do :; done
        rm -rf "$disk_root"
        chroot "$disk_root" sh
        place=$disk_root
        cp "$disk_another/etc/passwd" a
        cat "$1" b
        (cd "$disk_root" && cat etc/passwd)
        mkdir -p "$disk_root/data"
        sledc hostkey "out=$disk_root/etc/key"
        : >/run/sled/root/etc/x
        [ -e "$1/etc/passwd" ]
        cat "${1}/etc/passwd"
        set -- "$1"/*
        sledc tree get "$disk_root" a >"$disk_root/b"
    """
    for line in planted.strip().splitlines():
        assert reaches(line.strip()), line


def test_what_stays_inside() -> None:
    inside = """
        sledc tree get "$disk_root" /etc/hosts
        x=$(sledc tree files "$1" "/EFI/*")
        mkdir -p "$disk_root"
        [ "$disk_device" != "$disk_root_device" ]
        # echo >$disk_root/a
    """
    for line in map(str.strip, inside.strip().splitlines()):
        assert not reaches(line), line
    assert not border.bad_shell('disk_other() { cat "$1/a"; }\n', {"disk_judge"})


def test_c_opens_nothing_itself() -> None:
    for line in ("fd = open(path, O_RDONLY);", "if (stat(path, &st))", "r = file_read(path, 1, &x, NULL);"):
        assert border.bad_c(f"\t{line}\n"), line
    assert not border.bad_c("\tfd = border_file(boot, name, &fault); // not open(name)\n")


if __name__ == "__main__":
    sys.exit(tap.run_tests(globals()))
