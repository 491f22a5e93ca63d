# SPDX-License-Identifier: Apache-2.0
"""Installed trees as the installers of distributions make them, and what their boot loaders start."""

from __future__ import annotations

from dataclasses import dataclass

from boot.menus import (
    HEADER,
    MACHINE,
    NEW,
    OLD,
    SUSE_ENTRY,
    UUID,
    debian,
    entry,
    fedora,
    linux,
    menu,
    moved,
    suse,
    systemd,
)


@dataclass
class Tree:
    """Its files, what starts (a word of the kernel's path, and arguments), or why that cannot be known."""

    files: dict[str, str]
    kernel: str = ""
    arguments: str | None = None
    refused: str = ""
    separate: bool = False
    esp: bool = False
    firmware: str = ""


TWO = ("6.1.0-30", "6.1.0-28")
SECOND = f"advanced-{UUID}>gnulinux-6.1.0-28-advanced-{UUID}"
QUIET = f"root=UUID={UUID} ro quiet"


def with_menu(text: str) -> dict[str, str]:
    return {**debian(), "boot/grub/grub.cfg": text}


MEMTEST = "menuentry 'Memory test' {\n\tlinux16 /boot/memtest86+x64.bin\n}\n"
WINDOWS = "menuentry 'Windows' {\n\tinsmod chain\n\tchainloader /EFI/Microsoft/Boot/bootmgfw.efi\n}\n"
TREES: dict[str, Tree] = {
    "debian": Tree(debian(), "6.1.0-30", QUIET),
    "debian number": Tree(debian("1>2"), "6.1.0-28", QUIET),
    "debian id": Tree(debian(SECOND), "6.1.0-28", QUIET),
    "debian title": Tree(
        debian("Advanced options for Debian GNU/Linux>Debian GNU/Linux, with Linux 6.1.0-28"), "6.1.0-28"
    ),
    "debian saved": Tree(debian("${saved_entry}", saved_entry=SECOND), "6.1.0-28", QUIET),
    "debian saved, nothing yet": Tree(debian("${saved_entry}"), "6.1.0-30"),
    "debian saved entry is gone": Tree(debian("${saved_entry}", saved_entry="gone"), "6.1.0-30"),
    "debian next entry": Tree(debian(next_entry=SECOND), "6.1.0-28"),
    "debian previous saved": Tree(debian("${saved_entry}", saved_entry="0", prev_saved_entry="1>0"), "6.1.0-30"),
    "debian submenu": Tree(debian("1"), "6.1.0-30"),
    "debian beyond the menu": Tree(debian("7"), refused="depends on"),
    "debian title of a number": Tree(debian("6.1.0-28"), refused="starts with a digit"),
    "debian separate boot": Tree(moved(debian("1>2")), "6.1.0-28", QUIET, separate=True),
    "debian lvm": Tree(
        {**debian(), "boot/grub/grub.cfg": menu(TWO, root="root=/dev/mapper/vg-root")},
        "6.1.0-30",
        "root=/dev/mapper/vg-root ro quiet",
    ),
    "debian custom.cfg": Tree({**debian(), "boot/grub/custom.cfg": 'set default="1>2"\n'}, "6.1.0-28"),
    "debian custom entry": Tree(
        {**debian("mine"), "boot/grub/custom.cfg": f"menuentry mine {{\n{linux('6.1.0-28', 'mine')}}}\n"},
        "6.1.0-28",
        f"root=UUID={UUID} ro mine",
    ),
    "ubuntu server": Tree(with_menu(menu(TWO, name="Ubuntu", arguments="")), "6.1.0-30", f"root=UUID={UUID} ro"),
    "ubuntu desktop, EFI": Tree(
        with_menu(menu(TWO, name="Ubuntu", arguments="quiet splash $vt_handoff")),
        "6.1.0-30",
        f"root=UUID={UUID} ro quiet splash vt.handoff=7",
        firmware="efi",
    ),
    "ubuntu desktop, BIOS": Tree(
        with_menu(menu(TWO, name="Ubuntu", arguments="quiet splash $vt_handoff")), refused="depends on", firmware="bios"
    ),
    "ubuntu cloud": Tree(
        with_menu(
            HEADER.replace("@DEFAULT@", "0")
            + 'set partuuid=abcd\nmenuentry "Ubuntu" {\n\tif [ "${initrdfail}" = 1 ]; then\n'
            + linux("6.1.0-30")
            + "\telse\n\t\tlinux /boot/vmlinuz-6.1.0-30 root=PARTUUID=abcd ro panic=-1\n\tfi\n\tinitrdfail\n}\n"
        ),
        "6.1.0-30",
        "root=PARTUUID=abcd ro panic=-1",
    ),
    "ubuntu btrfs": Tree(
        with_menu(menu(TWO, name="Ubuntu", prefix="/@/boot", arguments="rootflags=subvol=@ quiet")),
        "6.1.0-30",
        f"root=UUID={UUID} ro rootflags=subvol=@ quiet",
    ),
    "fedora": Tree(fedora(), NEW, "root=UUID=fallback ro skew_tick=1 nohz=on", separate=True),
    "fedora saved": Tree(
        fedora(saved_entry=f"{MACHINE}-{OLD}", kernelopts="root=UUID=9 ro"),
        OLD,
        "root=UUID=9 ro skew_tick=1 nohz=on",
        separate=True,
    ),
    "fedora saved rescue": Tree(fedora(saved_entry=f"{MACHINE}-0-rescue"), f"0-rescue-{MACHINE}", separate=True),
    "rocky saved number": Tree(fedora(saved_entry="1"), OLD, separate=True),
    "rocky saved title": Tree(fedora(saved_entry=f"Rocky Linux ({OLD})"), OLD, separate=True),
    "rocky next entry": Tree(fedora(saved_entry="0", next_entry="1"), OLD, separate=True),
    "rocky counter used up": Tree(fedora(boot_counter="0", boot_success="0"), OLD, separate=True),
    "rocky counter": Tree(fedora(boot_counter="2", boot_success="0"), NEW, separate=True),
    "rocky rpm order": Tree(fedora(versions=("5.14.0-70.el9", "5.14.0-427.el9")), "5.14.0-427.el9", separate=True),
    "rhel EFI stub": Tree(
        {
            **fedora(saved_entry="1"),
            "esp/EFI/redhat/grub.cfg": "search --no-floppy --fs-uuid --set=dev 9\nset prefix=($dev)/grub2\n"
            "export $prefix\nconfigfile $prefix/grub.cfg\n",
        },
        OLD,
        separate=True,
        esp=True,
    ),
    "opensuse": Tree(
        suse(SUSE_ENTRY, saved_entry="0"), "6.4-default", f"root=UUID={UUID} splash=silent mitigations=auto"
    ),
    "opensuse variables in btrfs": Tree(suse(SUSE_ENTRY, env_block="512+1"), refused="which is not read here"),
    "os-prober is the default": Tree(
        with_menu(HEADER.replace("@DEFAULT@", "0") + WINDOWS + f"menuentry x {{\n{linux(TWO[0])}}}\n"),
        refused='the command "chainloader"',
    ),
    "windows before": Tree(
        with_menu(HEADER.replace("@DEFAULT@", "1") + WINDOWS + f"menuentry x {{\n{linux(TWO[0])}}}\n"), "6.1.0-30"
    ),
    "memtest": Tree(with_menu(HEADER.replace("@DEFAULT@", "0") + MEMTEST), refused="does not exist"),
    "unknown condition around": Tree(
        with_menu("if hwmatch x 3; then\nset default=1\nfi\n" + MEMTEST + MEMTEST), refused="hwmatch"
    ),
    "unknown loop": Tree(with_menu("for x in 1 2; do\nset default=$x\ndone\n" + MEMTEST), refused='"for"'),
    "unknown command": Tree(with_menu("mystery --set=default\n" + MEMTEST), refused='"mystery"'),
    "script of its own": Tree(with_menu("source (hd1)/elsewhere\n" + MEMTEST), refused="elsewhere"),
    "truncated": Tree(with_menu("menuentry x {\n\tlinux /boot/vmlinuz-6.1.0-30\n"), refused='no "}"'),
    "arch": Tree(systemd({"arch.conf": entry("linux"), "lts.conf": entry("lts")}, "default arch.conf\n"), "linux"),
    "arch glob": Tree(
        systemd({"arch.conf": entry("linux"), "lts.conf": entry("lts")}, "default  l*\n"), "lts", "root=LABEL=r lts"
    ),
    "arch case": Tree(systemd({"Arch.conf": entry("linux"), "lts.conf": entry("lts")}, "default arch.conf\n"), "linux"),
    "arch no suffix": Tree(
        systemd({"arch.conf": entry("linux"), "lts.conf": entry("lts")}, "default arch\n"), refused="differ"
    ),
    "arch saved": Tree(systemd({"arch.conf": entry("linux")}, "default @saved\n"), refused="@saved"),
    "systemd sort key": Tree(
        systemd({"z.conf": entry("9"), "a.conf": entry("6", "sort-key a\n"), "b.conf": entry("7", "sort-key a\n")}), "7"
    ),
    "systemd machine id": Tree(
        systemd(
            {
                "a.conf": entry("6", "sort-key a\nmachine-id 1\n"),
                "b.conf": entry("7", "sort-key a\nmachine-id 2\n"),
            }
        ),
        "6",
    ),
    "systemd version": Tree(systemd({"m-6.9.1.conf": entry("6.9.1"), "m-6.10.conf": entry("6.10")}), "6.10"),
    "systemd pre-release": Tree(systemd({"m-6.9~rc1.conf": entry("6.9~rc1"), "m-6.9.conf": entry("6.9")}), "6.9"),
    "systemd tries used up": Tree(systemd({"m-6.9+0-3.conf": entry("6.9"), "m-6.8+3.conf": entry("6.8")}, None), "6.8"),
    "systemd all used up": Tree(systemd({"m-6.9+0-3.conf": entry("6.9"), "m-6.8+0-1.conf": entry("6.8")}), "6.9"),
    "systemd kernel is missing": Tree(
        systemd({"m-6.8.conf": entry("6.8")}) | {"boot/loader/entries/m-6.9.conf": entry("6.9")}, "6.8"
    ),
    "systemd other architecture": Tree(
        systemd({"m-6.9.conf": entry("6.9", "architecture riscv64\n"), "m-6.8.conf": entry("6.8")}), "6.8"
    ),
    "systemd automatic names": Tree(systemd({"auto-9.conf": entry("9"), "a.conf": entry("6")}), "6"),
    "systemd hidden": Tree(systemd({".z-9.conf": entry("9"), "a-6.conf": entry("6")}), "6"),
    "systemd suffix in capitals": Tree(systemd({"m-9.CONF": entry("9"), "m-6.conf": entry("6")}), "9"),
    "systemd default twice": Tree(
        systemd({"a.conf": entry("6"), "b.conf": entry("7")}, "default b.conf\ndefault a.conf\n"), "6"
    ),
    "systemd default matches none": Tree(systemd({"a.conf": entry("6"), "b.conf": entry("7")}, "default c*\n"), "7"),
    "systemd default of a counted": Tree(
        systemd({"m-6.conf": entry("6"), "m-5+2-1.conf": entry("5")}, "default m-5.conf\n"), refused="differ"
    ),
    "systemd default with tries": Tree(
        systemd({"m-6.conf": entry("6"), "m-5+2-1.conf": entry("5")}, "default m-5+2-1.conf\n"), refused="differ"
    ),
    "systemd order of counted": Tree(
        systemd({"m-6.9.1+3.conf": entry("6.9.1"), "m-6.9+3.conf": entry("6.9")}), refused="differ"
    ),
    "systemd default is used up": Tree(
        systemd({"m-6.conf": entry("6"), "m-5+0-3.conf": entry("5")}, "default m-5*\n"), "5"
    ),
    "systemd default in quotes": Tree(systemd({"a.conf": entry("6"), "b.conf": entry("7")}, 'default "a.conf"\n'), "6"),
    "systemd default with a comment": Tree(
        systemd({"a.conf": entry("6"), "b.conf": entry("7")}, "#default b.conf\ndefault a.conf # x\n"), "7"
    ),
    "systemd class of letters": Tree(systemd({"a.conf": entry("6"), "b.conf": entry("7")}, "default [a]*\n"), "6"),
    "systemd question mark": Tree(systemd({"a1.conf": entry("6"), "b.conf": entry("7")}, "default a?.conf\n"), "6"),
    "systemd lines of Windows": Tree(
        systemd({"a.conf": entry("6").replace("\n", "\r\n"), "b.conf": entry("7")}, "timeout 1\r\ndefault a.conf\r\n"),
        "6",
        "root=LABEL=r 6",
    ),
    "systemd options twice": Tree(
        systemd({"a.conf": entry("6", "options a  b\noptions\tc\n# options d\n")}), "6", "root=LABEL=r 6 a  b c"
    ),
    "systemd keys in capitals": Tree(systemd({"a.conf": entry("6"), "b.conf": entry("7", "Sort-Key a\n")}), "7"),
    "systemd linux twice": Tree(systemd({"a.conf": entry("6", "linux /vmlinuz-6\n")}), "6"),
    "systemd version of the key": Tree(
        systemd({"a.conf": entry("6.10", "sort-key a\n"), "b.conf": entry("6.9", "sort-key a\n")}), "6.10"
    ),
    "systemd key of one alone": Tree(systemd({"z-9.conf": entry("9"), "a.conf": entry("6", "sort-key z\n")}), "6"),
    "systemd machine without an id": Tree(
        systemd(
            {
                "a.conf": entry("6", "sort-key a\nmachine-id 1\n"),
                "b.conf": entry("7", "sort-key a\n"),
            }
        ),
        "7",
    ),
    "systemd leading zeros": Tree(systemd({"m-6.09.conf": entry("6.09"), "m-6.8.conf": entry("6.8")}), "6.09"),
    "systemd patch level": Tree(systemd({"m-6.9^1.conf": entry("6.9^1"), "m-6.9.conf": entry("6.9")}), "6.9"),
    "systemd letters and digits": Tree(systemd({"m-6.9a.conf": entry("6.9a"), "m-6.9.1.conf": entry("6.9.1")}), "6.9a"),
    "systemd two names of machines": Tree(
        systemd({"0a-6.conf": entry("6"), "ff-5.conf": entry("5"), "Fe-7.conf": entry("7")}), "6"
    ),
    "systemd on two partitions": Tree(
        {
            "esp/loader/loader.conf": "timeout 1\n",
            "esp/loader/entries/m-6.conf": "linux /linux-6\noptions e\n",
            "esp/linux-6": "k",
            **systemd({"m-7.conf": entry("7")}, "default m-6*\n"),
        },
        "7",
        esp=True,
    ),
    "systemd unified on the other": Tree(
        {
            "esp/EFI/Linux/a.efi": "x",
            **systemd({"m-7.conf": entry("7")}),
            "esp/loader/loader.conf": "default m*.conf\n",
        },
        "7",
        esp=True,
    ),
    "systemd unified in capitals": Tree(
        {"boot/EFI/LINUX/A.EFI": "x", **systemd({"a.conf": entry("6")})}, refused="unified"
    ),
    "systemd device tree": Tree(systemd({"a.conf": entry("6", "devicetree /a.dtb\n")}), refused='"devicetree"'),
    "unified image": Tree(systemd({"a.conf": entry("6")}) | {"boot/EFI/Linux/arch.efi": "x"}, refused="unified"),
    "unified image, default is another": Tree(
        systemd({"a.conf": entry("6")}, "default a.conf\n") | {"boot/EFI/Linux/arch.efi": "x"}, "6"
    ),
    "entries on the ESP": Tree(
        {
            "esp/loader/loader.conf": "timeout 1\n",
            "esp/EFI/systemd/systemd-bootx64.efi": "x",
            "esp/loader/entries/m-6.conf": "linux /m/6/linux\ninitrd /m/6/initrd\noptions root=LABEL=r\n",
            "esp/m/6/linux": "k",
            "esp/m/6/initrd": "i",
            "boot/vmlinuz-9": "k",
        },
        "/esp/m/6/linux",
        esp=True,
    ),
    "two loaders": Tree(
        {**debian(), "esp/loader/loader.conf": "timeout 1\n", "esp/EFI/Linux/a.efi": "x"}, refused="unified", esp=True
    ),
    "both loaders": Tree(
        {**debian(), "esp/loader/entries/m.conf": "linux /k\n", "esp/k": "k", "esp/loader/loader.conf": "x 1\n"},
        refused="both GRUB and systemd-boot",
        esp=True,
    ),
    "extlinux": Tree({"boot/extlinux/extlinux.conf": "x", "boot/vmlinuz-lts": "k"}, refused="extlinux"),
    "kernels alone": Tree({"boot/vmlinuz-6.1": "k", "etc/kernel/cmdline": "root=x"}, refused="no boot loader"),
}
