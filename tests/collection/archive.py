# SPDX-License-Identifier: Apache-2.0
"""The collection as users get it: built, installed into an empty directory, run where the checkout is unreadable."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.executable).parent
HIDE = 'mount -t tmpfs none "$0" && exec "$@"'


class Installed:
    """An installed collection, and how its programs are run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.collection = folder / "ansible_collections/sled/fleet"
        self.inventory = self.collection / "inventory/example/hosts.yml"
        self.home = folder / "home"
        self.home.mkdir()
        archive = self.build(folder / "archive")
        self.members = sorted(self.galaxy("install", "--offline", "-p", str(folder), str(archive)))

    def build(self, to: Path) -> Path:
        """Builds the archive from the checkout."""
        self.program("ansible-galaxy", "collection", "build", "--output-path", str(to), str(ROOT))
        (archive,) = to.glob("sled-fleet-*.tar.gz")
        return archive

    def galaxy(self, *arguments: str) -> list[str]:
        """Runs ansible-galaxy collection; returns the installed files."""
        self.program("ansible-galaxy", "collection", *arguments)
        return [str(path.relative_to(self.collection)) for path in self.collection.rglob("*") if path.is_file()]

    def environment(self) -> dict[str, str]:
        """Nothing of the caller's Ansible settings, and no path to the checkout."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PYTHON", "SLED_"))
        }
        return kept | {
            "ANSIBLE_COLLECTIONS_PATH": str(self.folder),
            "ANSIBLE_HOME": str(self.home / ".ansible"),
            "ANSIBLE_NOCOLOR": "1",
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
        }

    def program(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Runs a program of the virtual environment, which must succeed."""
        done = self.attempt([str(PROGRAMS / command[0]), *command[1:]])
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def away(self, *command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a program where the checkout is an empty directory."""
        program = PROGRAMS / command[0]
        full = [str(program) if program.exists() else command[0], *command[1:]]
        return self.attempt(["unshare", "--map-root-user", "--mount", "sh", "-c", HIDE, str(ROOT), *full], cwd)

    def attempt(self, command: list[str], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a command, in the empty home directory unless told otherwise."""
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=300, cwd=cwd or self.home,
            env=self.environment(),
        )  # fmt: skip
