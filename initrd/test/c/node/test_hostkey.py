# SPDX-License-Identifier: Apache-2.0
"""sledc hostkey: OpenSSH reads what it makes, and signs with it. Prints TAP. $SLEDC is the build for tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tap import run_tests

SLEDC = os.environ["SLEDC"]
work = Path(tempfile.mkdtemp())


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)


def make(name: str, *words: str) -> tuple[Path, str]:
    """A new key, and the line that was printed."""
    file = work / name
    made = run(SLEDC, "hostkey", f"root={work}", f"out=/{name}", *words)
    assert made.returncode == 0 and not made.stderr, made
    return file, made.stdout


KINDS = {"ed25519": ("ssh-ed25519", "256"), "ecdsa": ("ecdsa-sha2-nistp256", "256"), "rsa": ("ssh-rsa", "3072")}


def test_openssh_reads_it() -> None:
    for kind, (algorithm, bits) in KINDS.items():
        file, line = make("key", f"kind={kind}")
        assert re.fullmatch(algorithm + r" [A-Za-z0-9+/]{68,544}={0,2}\n", line), line
        assert file.with_suffix(".pub").read_text() == line
        public = run("ssh-keygen", "-y", "-P", "", "-f", file)
        assert public.returncode == 0 and public.stdout.split() == line.split(), public
        prints = [run("ssh-keygen", "-l", "-f", name).stdout.split() for name in (file, file.with_suffix(".pub"))]
        assert prints[0][0] == bits and prints[0][1].startswith("SHA256:"), prints
        assert prints[0][-1] == f"({kind.upper()})" and prints[0][:2] == prints[1][:2], prints


def test_the_default_is_ed25519() -> None:
    assert make("key")[1].startswith("ssh-ed25519 ")
    refused = run(SLEDC, "hostkey", f"root={work}", "out=/key", "kind=dsa")
    assert refused.returncode == 2 and 'kind "dsa" is not ed25519, ecdsa or rsa' in refused.stderr, refused


def signs(kind: str) -> None:
    file, line = make("signer", f"kind={kind}")
    signed, trusted = work / "text", work / "trusted"
    signed.write_text("text\n")
    trusted.write_text(f"n1 {line}")
    assert run("ssh-keygen", "-q", "-Y", "sign", "-n", "test", "-f", file, signed).returncode == 0
    with signed.open() as text:
        checked = subprocess.run(
            ["ssh-keygen", "-Y", "verify", "-f", trusted, "-I", "n1", "-n", "test", "-s", f"{signed}.sig"],
            stdin=text, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert checked.returncode == 0, checked


def test_it_signs_what_its_public_half_verifies() -> None:
    for kind in KINDS:
        (work / "text.sig").unlink(missing_ok=True)
        signs(kind)


def test_modes() -> None:
    before = os.umask(0o022)
    try:
        file, _ = make("modes")
    finally:
        os.umask(before)
    assert [f.stat().st_mode & 0o777 for f in (file, file.with_suffix(".pub"))] == [0o600, 0o644]


def test_openssh_checks_its_mode() -> None:
    """sshd, ssh and ssh-keygen refuse a key by the same rule; only a patched sshd reads one of a group."""
    file, _ = make("open")
    file.chmod(0o640)
    refused = run("ssh-keygen", "-y", "-P", "", "-f", file)
    assert refused.returncode and "too open" in refused.stderr, refused


def test_a_unit_that_makes_missing_keys_keeps_it() -> None:
    """As in Fedora: one unit per type of key, each with the condition that its file is missing or empty."""
    etc, units = work / "etc", work / "units"
    etc.mkdir()
    units.mkdir()
    (units / "keygen@.service").write_text(
        f"[Unit]\nConditionFileNotEmpty=|!{etc}/ssh_host_%i_key\n[Service]\nType=oneshot\nExecStart=/bin/false\n"
    )
    make("etc/ssh_host_ed25519_key")
    (etc / "ssh_host_ecdsa_key").touch()
    starts = {}
    for kind in ("ed25519", "ecdsa", "rsa"):
        unit = f"--unit=keygen@{kind}.service"
        said = run("env", f"SYSTEMD_UNIT_PATH={units}", "systemd-analyze", "condition", unit)
        starts[kind] = said.stderr.splitlines()[-1:]
    assert starts == {
        "ed25519": ["Conditions failed."], "ecdsa": ["Conditions succeeded."], "rsa": ["Conditions succeeded."],
    }, starts  # fmt: skip


def test_each_key_differs() -> None:
    first = make("again")
    kept = first[0].read_bytes()
    assert make("again")[1] != first[1] and first[0].read_bytes() != kept


def test_a_link_is_not_followed() -> None:
    outside = work / "outside"
    outside.write_text("kept")
    (work / "link").symlink_to(outside)
    file, _ = make("link")
    assert outside.read_text() == "kept" and not file.is_symlink()


def test_faults_name_the_file() -> None:
    (work / "file").touch()
    missing = run(SLEDC, "hostkey", f"root={work}", "out=/file/key")
    assert missing.returncode == 3 and "hostkey: /file/key of the installed system: Not a dir" in missing.stderr, (
        missing
    )
    assert run(SLEDC, "hostkey").returncode == 2


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
