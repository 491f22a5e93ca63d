# SPDX-License-Identifier: Apache-2.0
"""Files of boot loaders as the installers of distributions make them: what their generators write, shortened."""

from __future__ import annotations

UUID = "11111111-2222-4333-8444-555555555555"
SEARCH = f"""if [ x$feature_platform_search_hint = xy ]; then
  search --no-floppy --fs-uuid --set=root --hint-bios=hd0,gpt2 --hint-efi=hd0,gpt2 {UUID}
else
  search --no-floppy --fs-uuid --set=root {UUID}
fi
"""
HEADER = """if [ -s $prefix/grubenv ]; then
  set have_grubenv=true
  load_env
fi
if [ "${initrdfail}" = 2 ]; then
   set initrdfail=
elif [ "${initrdfail}" = 1 ]; then
   set next_entry="${prev_entry}"
   set prev_entry=
   save_env prev_entry
   if [ "${next_entry}" ]; then
      set initrdfail=2
   fi
fi
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
   set next_entry=
   save_env next_entry
   set boot_once=true
else
   set default="@DEFAULT@"
fi
if [ x"${feature_menuentry_id}" = xy ]; then
  menuentry_id_option="--id"
else
  menuentry_id_option=""
fi
export menuentry_id_option
if [ "${prev_saved_entry}" ]; then
  set saved_entry="${prev_saved_entry}"
  save_env saved_entry
  set prev_saved_entry=
  save_env prev_saved_entry
  set boot_once=true
fi
function savedefault {
  if [ -z "${boot_once}" ]; then
    saved_entry="${chosen}"
    save_env saved_entry
  fi
}
function initrdfail {
    if [ -n "${have_grubenv}" ]; then if [ -n "${partuuid}" ]; then
      if [ -z "${initrdfail}" ]; then
        set initrdfail=1
        if [ -n "${boot_once}" ]; then
          set prev_entry="${default}"
          save_env prev_entry
        fi
      fi
      save_env initrdfail
    fi; fi
}
function recordfail {
  set recordfail=1
  if [ -n "${have_grubenv}" ]; then if [ -z "${boot_once}" ]; then save_env recordfail; fi; fi
}
function load_video {
  if [ x$feature_all_video_module = xy ]; then
    insmod all_video
  else
    insmod efi_gop
    insmod vga
  fi
}
if [ x$feature_default_font_path = xy ] ; then
   font=unicode
else
   font="/usr/share/grub/unicode.pf2"
fi
if loadfont $font ; then
  set gfxmode=auto
  load_video
  insmod gfxterm
  set lang=en_US
  insmod gettext
fi
terminal_output gfxterm
if [ "${recordfail}" = 1 ] ; then
  set timeout=30
else
  if [ x$feature_timeout_style = xy ] ; then
    set timeout_style=hidden
    set timeout=0
  # Fallback normal timeout code in case the timeout_style feature is
  # unavailable.
  elif sleep --interruptible 0 ; then
    set timeout=0
  fi
fi
function gfxmode {
	set gfxpayload="${1}"
	if [ "${1}" = "keep" ]; then
		set vt_handoff=vt.handoff=7
	else
		set vt_handoff=
	fi
}
if [ "${recordfail}" != 1 ]; then
  if [ -e ${prefix}/gfxblacklist.txt ]; then
    if [ ${grub_platform} != pc ]; then
      set linux_gfx_mode=keep
    elif hwmatch ${prefix}/gfxblacklist.txt 3; then
      if [ ${match} = 0 ]; then
        set linux_gfx_mode=keep
      else
        set linux_gfx_mode=text
      fi
    else
      set linux_gfx_mode=text
    fi
  else
    set linux_gfx_mode=keep
  fi
else
  set linux_gfx_mode=text
fi
export linux_gfx_mode
"""
TAIL = """if [ "$grub_platform" = "efi" ]; then
	fwsetup --is-supported
	if [ "$?" = 0 ]; then
		menuentry 'UEFI Firmware Settings' $menuentry_id_option 'uefi-firmware' {
			fwsetup
		}
	fi
fi
if [ -f  ${config_directory}/custom.cfg ]; then
  source ${config_directory}/custom.cfg
elif [ -z "${config_directory}" -a -f  $prefix/custom.cfg ]; then
  source $prefix/custom.cfg
fi
"""
FEDORA = """set pager=1
if [ -f ${config_directory}/grubenv ]; then
  load_env -f ${config_directory}/grubenv
elif [ -s $prefix/grubenv ]; then
  load_env
fi
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
   set next_entry=
   save_env next_entry
   set boot_once=true
else
   set default="${saved_entry}"
fi
if [ -f ${prefix}/user.cfg ]; then
  source ${prefix}/user.cfg
  if [ -n "${GRUB2_PASSWORD}" ]; then
    set superusers="root"
    export superusers
    password_pbkdf2 root ${GRUB2_PASSWORD}
  fi
fi
set tuned_params="skew_tick=1 nohz=on"
set tuned_initrd=""
insmod increment
if [ -n "${boot_counter}" -a "${boot_success}" = "0" ]; then
  if  [ "${boot_counter}" = "0" -o "${boot_counter}" = "-1" ]; then
    set default=1
    set boot_counter=-1
  else
    decrement boot_counter
  fi
  save_env boot_counter
fi
if [ "${boot_success}" = "1" -o "${boot_indeterminate}" = "1" ]; then
  set menu_hide_ok=1
else
  set menu_hide_ok=0
fi
set boot_success=0
save_env boot_success boot_indeterminate
if [ -z "${kernelopts}" ]; then
  set kernelopts="root=UUID=fallback ro "
fi
insmod blscfg
blscfg
if [ x$feature_timeout_style = xy ] ; then
  if [ "${menu_show_once}" ]; then
    unset menu_show_once
    save_env menu_show_once
    set timeout_style=menu
  elif [ "${menu_auto_hide}" -a "${menu_hide_ok}" = "1" ]; then
    set timeout_style=hidden
    set timeout=1
  fi
fi
"""


def linux(version: str, arguments: str = "quiet", prefix: str = "/boot", root: str = f"root=UUID={UUID}") -> str:
    """The body of an entry."""
    return f"""	recordfail
	load_video
	gfxmode $linux_gfx_mode
	insmod gzio
	if [ x$grub_platform = xxen ]; then insmod xzio; insmod lzopio; fi
	insmod part_gpt
	set root='hd0,gpt2'
	{SEARCH}	echo	'Loading Linux {version} ...'
	linux	{prefix}/vmlinuz-{version} {root} ro  {arguments}
	echo	'Loading initial ramdisk ...'
	initrd	{prefix}/initrd.img-{version}
"""


def menu(versions: tuple[str, ...], default: str = "0", name: str = "Debian GNU/Linux", **words: str) -> str:
    """grub.cfg of grub-mkconfig: the newest version, then a submenu of all."""
    simple = (
        f"menuentry '{name}' --class gnu $menuentry_id_option 'simple-{UUID}' {{\n{linux(versions[0], **words)}}}\n"
    )
    entries = "".join(
        f"\tmenuentry '{name}, with Linux {v}{mode}' $menuentry_id_option 'gnulinux-{v}-{kind}-{UUID}' {{\n"
        + linux(v, **{**words, "arguments": words.get("arguments", "quiet") if not mode else "single"})
        + "}\n"
        for v in versions
        for kind, mode in (("advanced", ""), ("recovery", " (recovery mode)"))
    )
    more = f"submenu 'Advanced options for {name}' $menuentry_id_option 'advanced-{UUID}' {{\n{entries}}}\n"
    return HEADER.replace("@DEFAULT@", default) + simple + more + TAIL


def environment(**values: str) -> str:
    lines = "# GRUB Environment Block\n" + "".join(f"{k}={v}\n" for k, v in values.items())
    return lines.ljust(1024, "#")


def debian(default: str = "0", versions: tuple[str, ...] = ("6.1.0-30", "6.1.0-28"), **values: str) -> dict[str, str]:
    files = {"boot/grub/grub.cfg": menu(versions, default), "boot/grub/gfxblacklist.txt": "x\n"}
    if values:
        files["boot/grub/grubenv"] = environment(**values)
    for version in versions:
        files |= {f"boot/vmlinuz-{version}": "k", f"boot/initrd.img-{version}": "i"}
    return files


def moved(files: dict[str, str]) -> dict[str, str]:
    """The same with /boot on a filesystem of its own."""
    return {
        k: v.replace("\t/boot/vmlinuz", "\t/vmlinuz").replace("\t/boot/initrd", "\t/initrd") for k, v in files.items()
    }


OLD, NEW = "5.14.0-284.30.1.el9_2.x86_64", "5.14.0-362.8.1.el9_3.x86_64"
MACHINE = "3f2a9b0c11114222833344445555aaaa"


def fedora(
    arguments: str = "$kernelopts $tuned_params", versions: tuple[str, ...] = (OLD, NEW), **values: str
) -> dict[str, str]:
    files = {"boot/grub2/grub.cfg": FEDORA, "boot/grub2/grubenv": environment(**values)}
    rescue = f"0-rescue-{MACHINE}"
    for v in (*versions, rescue):
        files |= {
            f"boot/vmlinuz-{v}": "k",
            f"boot/initramfs-{v}.img": "i",
            f"boot/loader/entries/{MACHINE}-{'0-rescue' if v == rescue else v}.conf": (
                f"title Rocky Linux ({v})\nversion {v}\nlinux /vmlinuz-{v}\ninitrd /initramfs-{v}.img $tuned_initrd\n"
                f"options {arguments}\ngrub_users $grub_users\ngrub_arg --unrestricted\ngrub_class rocky\n"
            ),
        }
    return files


def entry(version: str, more: str = "") -> str:
    files = f"linux /vmlinuz-{version}\ninitrd /initrd-{version}\n"
    return f"title Arch\nversion {version}\n{files}options root=LABEL=r {version}\n{more}"


def systemd(entries: dict[str, str], conf: str | None = "timeout 3\n", **more: str) -> dict[str, str]:
    files = {f"boot/loader/entries/{name}": text for name, text in entries.items()}
    if conf is not None:
        files["boot/loader/loader.conf"] = conf
    for text in entries.values():
        version = text.split("version ")[1].splitlines()[0]
        files |= {f"boot/vmlinuz-{version}": "k", f"boot/initrd-{version}": "i"}
    return files | more


def suse(body: str, **values: str) -> dict[str, str]:
    head = FEDORA.split("if [ -f ${prefix}/user.cfg", maxsplit=1)[0]
    env = 'if [ "$env_block" ] ; then\n  set env_block="(${root})$env_block"\n  load_env -f "$env_block"\nfi\n'
    return {
        "boot/grub2/grub.cfg": 'set btrfs_relative_path="y"\nexport btrfs_relative_path\n'
        + head.replace('if [ "${next_entry}"', env + 'if [ "${next_entry}"', 1)
        + body,
        "boot/grub2/grubenv": environment(**values),
        "boot/vmlinuz-6.4-default": "k",
        "boot/initrd-6.4-default": "i",
    }


SUSE_ENTRY = f"""menuentry 'openSUSE Leap 15.6'  --class opensuse $menuentry_id_option 'gnulinux-simple-{UUID}' {{
	load_video
	set gfxpayload=keep
	insmod gzio
	insmod btrfs
	{SEARCH}	echo	'Loading Linux 6.4-default ...'
	linux	/boot/vmlinuz-6.4-default root=UUID={UUID}  ${{extra_cmdline}} splash=silent mitigations=auto
	initrd	/boot/initrd-6.4-default
}}
"""
