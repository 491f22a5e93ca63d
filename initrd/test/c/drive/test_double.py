# SPDX-License-Identifier: Apache-2.0
"""Programs that are not ours work on the doubles of drives, and send the commands that sledc sends.

Debian's hdparm, nvme-cli, sg_sanitize and mmc, with ioctl(2) preloaded (double_drive.c). So the doubles behave as these
programs expect of a drive, and the encoders of sledc are compared with theirs. Prints TAP.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from program import for_tests
from tap import run_tests

SLEDC = for_tests()
DOUBLE = Path(os.environ["SLED_TOOLS"]) / "double_drive.so"
SIZE = 2 << 20
TENANT = bytes(range(1, 256)) * 33
WHERE = f"{os.environ['PATH']}:/usr/sbin:/sbin"
RISK = "--yes-i-know-what-i-am-doing"

# Commands that change a drive: opcode of NVMe, operation code of SCSI, command register of ATA, command of eMMC.
CHANGES = {
    "nvme": {"80", "84"},
    "scsi": {"48"},
    "ata": {"37", "b4", "f1", "f2", "f3", "f4", "f6"},
    "mmc": {"06", "23", "24", "26"},
}


def changes(kind: str, command: str) -> bool:
    """Whether a command changes the drive. SANITIZE STATUS EXT, with feature 0, asks only."""
    if kind != "ata":
        return command[:2] in CHANGES[kind]
    asks = command[28:30] == "b4" and command[6:10] == "0000"
    return command[:2] == "85" and command[28:30] in CHANGES[kind] and not asks


class Drive:
    """A double and its disk, for as many programs as there are."""

    def __init__(self, kind: str, faults: str = "") -> None:
        """Make its folder; `faults` as in DOUBLE_SET."""
        self.folder = Path(tempfile.mkdtemp())
        self.kind, self.faults = kind, faults
        self.disk = self.folder / "disk"
        self.disk.write_bytes((TENANT * (SIZE // len(TENANT) + 1))[:SIZE])
        self.before = self.disk.read_bytes()
        self.preload = self.folder / DOUBLE.name
        self.preload.symlink_to(DOUBLE)  # LD_PRELOAD ends at a space, which the folder of the checkout may have

    def run(self, *words: str, code: int = 0) -> str:
        """Run a program on it, which must end with that code."""
        program = shutil.which(words[0], path=WHERE)
        assert program, f"{words[0]} is missing: tools/setup installs it"
        done = subprocess.run(
            [program, *words[1:]],
            env={
                **os.environ,
                "LD_PRELOAD": str(self.preload),
                "DOUBLE": str(self.folder),
                "DOUBLE_KIND": self.kind,
                "DOUBLE_SET": self.faults,
                "SLED_TEST_DISK": str(self.disk),
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == code, f"{words}: code {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def wipe(self, method: str, level: str = "purge", code: int = 0) -> str:
        """Have sledc wipe it."""
        return self.run(SLEDC, "wipe", "disks=only", f"level={level}", f"method={method}", code=code)

    def sent(self) -> list[str]:
        """The commands since the last call, with their data."""
        file = self.folder / "sent"
        lines = [line.split(" ", 1)[1] for line in file.read_text().splitlines()] if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    def changes(self) -> list[str]:
        """Those of them that change the drive."""
        return [line for line in self.sent() if changes(self.kind, line)]

    def asked(self, *commands: str) -> list[str]:
        """Those of them to an ATA drive that have these command registers, without repetition."""
        return sorted({line for line in self.sent() if line[28:30] in commands})

    def erased(self) -> bool:
        """Whether no block holds what it held."""
        now = self.disk.read_bytes()
        return all(now[at : at + 4096] != self.before[at : at + 4096] for at in range(0, SIZE, 4096))


def same(kind: str, method: str, level: str, *programs: list[str]) -> Drive:
    """These programs erase one drive and sledc another, by the same commands. Returns the drive of the programs."""
    theirs, ours = Drive(kind), Drive(kind)
    for words in programs:
        theirs.run(*words)
    assert theirs.erased() or kind != "nvme", f"{programs[-1]}: not erased"
    ours.wipe(method, level)
    sent, meant = ours.changes(), theirs.changes()
    assert sent == meant, f"{method}:\nsledc {sent}\nothers {meant}"
    assert sent, method
    assert ours.erased(), f"{method}: not erased"
    return theirs


def test_hdparm_sanitizes() -> None:
    """SANITIZE DEVICE of each kind, and what hdparm reads of its course."""
    for method, words in (
        ("ata-sanitize-block", ["--sanitize-block-erase"]),
        ("ata-sanitize-crypto", ["--sanitize-crypto-scramble"]),
        ("ata-sanitize-overwrite", ["--sanitize-overwrite-passes", "1", "--sanitize-overwrite", "hex:00000000"]),
    ):
        drive = same("ata", method, "purge", ["hdparm", RISK, *words, "/dev/null"])
        for _ in range(5):
            text = drive.run("hdparm", "--sanitize-status", "/dev/null")
        assert "Sanitize Idle" in text, text
        assert "Last Sanitize Operation Completed Without Error" in text, text
        assert drive.erased()


def test_hdparm_erases() -> None:
    """Security Erase of both kinds."""
    for method, level, word in (
        ("ata-security-erase", "clear", "--security-erase"),
        ("ata-security-erase-enhanced", "purge", "--security-erase-enhanced"),
    ):
        drive = same(
            "ata",
            method,
            level,
            ["hdparm", "--user-master", "u", "--security-set-pass", "sled", "/dev/null"],
            ["hdparm", "--user-master", "u", word, "sled", "/dev/null"],
        )
        assert drive.erased()


def test_hdparm_unlocks() -> None:
    """An erase of sledc loses its power: hdparm sees what the guide says, and its commands there help."""
    drive = Drive("ata", "loses_power")
    text = drive.wipe("ata-security-erase-enhanced", code=1)
    assert 'the password "sled"' in text, text
    drive.faults = "power_cycle"
    text = drive.run("hdparm", "-I", "/dev/null")
    for word in ("enabled", "locked"):
        assert any(line.split() == [word] for line in text.splitlines()), text
    drive.run("hdparm", "--user-master", "u", "--security-unlock", "sled", "/dev/null")
    drive.faults = ""
    drive.run("hdparm", "--user-master", "u", "--security-disable", "sled", "/dev/null")
    theirs = [line for line in drive.changes() if line[28:30] in {"f2", "f6"}]
    text = drive.run("hdparm", "-I", "/dev/null")
    assert any(line.split() == ["not", "enabled"] for line in text.splitlines()), text

    drive = Drive("ata", "loses_power")
    drive.wipe("ata-security-erase-enhanced", code=1)
    drive.changes()
    drive.faults = "power_cycle"
    drive.wipe("ata-sanitize-block")
    ours = [line for line in drive.changes() if line[28:30] in {"f2", "f6"}]
    assert ours == sorted(set(theirs)), f"{ours}\n{theirs}"  # hdparm unlocks again before it disables
    assert drive.erased()


def test_frozen() -> None:
    """Neither gets through."""
    drive = Drive("ata", "frozen")
    assert "frozen" in drive.run("hdparm", "-I", "/dev/null")
    drive.run("hdparm", "--security-set-pass", "sled", "/dev/null", code=5)
    text = drive.wipe("ata-security-erase-enhanced", code=3)
    assert "is frozen: power the drive off and on" in text, text
    assert drive.disk.read_bytes() == drive.before


def test_hidden() -> None:
    """What the drive hides, as hdparm reads it. A purge fails, and names it."""
    drive = Drive("ata", "hpa dco")
    text = drive.run("hdparm", "-N", "/dev/null")
    assert f"max sectors   = {SIZE // 512}/{SIZE // 512 + 2048}, HPA is enabled" in text, text
    text = drive.run("hdparm", "--dco-identify", "/dev/null")
    assert f"Real max sectors: {SIZE // 512 + 4096}" in text, text
    theirs = drive.asked("27", "b1")
    text = drive.wipe("ata-sanitize-block", code=3)
    assert "hides 1048576 bytes by HPA, 1048576 bytes by DCO" in text, text
    assert drive.asked("27", "b1") == theirs, theirs
    assert drive.disk.read_bytes() == drive.before


def test_lift() -> None:
    """An HPA is lifted by what hdparm -N sends, which sees no more of it then; that of another name is left alone."""
    theirs, ours = Drive("ata", "hpa"), Drive("ata", "hpa")
    theirs.run("hdparm", RISK, "-N", str(SIZE // 512 + 2048), "/dev/null")
    ours.wipe("auto", code=3)
    assert not ours.changes()
    text = ours.wipe("ata-sanitize-block")
    assert "good" in text, text
    assert "lifted%20an%20HPA%20of%201048576%20bytes" in text, text
    sent = ours.sent()
    lift = [line for line in sent if line[28:30] == "37"]
    assert lift == [line for line in theirs.changes() if line[28:30] == "37"], sent
    assert len(lift) == 1, sent
    before = sent[sent.index(lift[0]) - 1]
    assert before[28:30] == "27", f"{before}: the native size must be asked directly before it is set"
    for drive in (theirs, ours):
        text = drive.run("hdparm", "-N", "/dev/null")
        assert f"max sectors   = {SIZE // 512 + 2048}/{SIZE // 512 + 2048}, HPA is disabled" in text, text
    assert ours.erased()

    drive = Drive("ata", "hpa refuses_max")
    text = drive.wipe("ata-sanitize-block", code=3)
    assert "hides 1048576 bytes by HPA" in text, text
    assert "refuses SET MAX ADDRESS EXT" in text, text
    assert drive.disk.read_bytes() == drive.before


def facts_of(drive: Drive) -> str:
    """The line of sda in the facts of a machine whose only drive of SCSI it is."""
    tree = drive.folder / "tree"
    tree.mkdir()
    subprocess.run(["sh", Path(__file__).parents[1] / "tree.sh", tree], check=True)
    (tree / "dev").mkdir(exist_ok=True)
    (tree / "dev/sda").touch()
    text = drive.run(SLEDC, "facts", f"root={tree}")
    return next(line for line in text.splitlines() if line.startswith("disk name=sda "))


def test_facts() -> None:
    """A node reports what its ATA drives hide, by kind, and changes nothing for it."""
    for faults, hidden in (
        ("", ""),
        ("hpa", "hpa:1048576"),
        ("amac", "amac:4194304"),
        ("dco", "dco:2097152"),
        ("hpa amac dco", "hpa:1048576,amac:3145728"),
    ):
        drive = Drive("ata", faults)
        line = facts_of(drive)
        found = [word for word in line.split() if word.startswith("hidden=")]
        assert found == ([f"hidden={hidden}"] if hidden else []), line
        assert not drive.changes()
        assert drive.disk.read_bytes() == drive.before
    drive = Drive("scsi", "")
    assert "hidden=" not in facts_of(drive)
    assert all(line.startswith("12") for line in drive.sent())


def test_nvme() -> None:
    """Sanitize and Format of each kind."""
    for method, words in (
        ("nvme-sanitize-block", ["sanitize", "/dev/null", "--sanact=2"]),
        ("nvme-sanitize-crypto", ["sanitize", "/dev/null", "--sanact=4"]),
        ("nvme-sanitize-overwrite", ["sanitize", "/dev/null", "--sanact=3", "--owpass=1"]),
    ):
        drive = same("nvme", method, "purge", ["nvme", *words], *[["nvme", "sanitize-log", "/dev/null"]] * 5)
        text = drive.run("nvme", "sanitize-log", "/dev/null")
        assert "65535" in text, text
    for method, ses in (("nvme-format-user", "1"), ("nvme-format-crypto", "2")):
        same("nvme", method, "purge", ["nvme", "format", "/dev/null", "--namespace-id=1", f"--ses={ses}", "--force"])


def test_sg_sanitize() -> None:
    """SANITIZE of each kind."""
    for method, words in (
        ("scsi-sanitize-block", ["--block"]),
        ("scsi-sanitize-crypto", ["--crypto"]),
        ("scsi-sanitize-overwrite", ["--overwrite", "--zero"]),
    ):
        same("scsi", method, "purge", ["sg_sanitize", "--quick", "--early", *words, "/dev/null"])


def test_mmc() -> None:
    """Sanitize after a trim, and a secure erase, by their flags too."""
    last = str(SIZE - 512)  # in bytes, as of every eMMC of up to 2 GiB
    same(
        "mmc",
        "mmc-sanitize",
        "purge",
        ["mmc", "erase", "trim", "0", last, "/dev/null"],
        ["mmc", "sanitize", "/dev/null"],
    )
    same("mmc", "mmc-secure-erase", "purge", ["mmc", "erase", "secure-erase", "0", last, "/dev/null"])


def test_liar() -> None:
    """A drive that reports success to all of them, and erases nothing: sledc alone finds it."""
    drive = Drive("ata", "lies")
    drive.run("hdparm", RISK, "--sanitize-block-erase", "/dev/null")
    text = drive.wipe("ata-sanitize-block", code=5)
    assert "was not erased, though the drive reports success" in text, text


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
