# SPDX-License-Identifier: Apache-2.0
"""Runs the programs that some drivers are made of."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from ansible_collections.sled.fleet.plugins.module_utils.power.driver import Driver


@dataclass(frozen=True)
class Ended:
    """Exit code and output of a program."""

    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """The last line that is not empty."""
        lines = [line.strip() for line in (self.err or self.out).splitlines() if line.strip()]
        return lines[-1] if lines else f"exit code {self.code}"


def run(
    driver: Driver, argv: list[str], secret: str = "", environment: Mapping[str, str] | None = None, timeout: float = 0
) -> Ended:
    """Runs it without a terminal.

    A secret is in a pipe that the argument @SECRET@ names: in no file, argument or environment.
    """
    timeout = timeout or driver.timeout
    reading, writing = os.pipe()
    try:
        os.write(writing, f"{secret}\n".encode())
    finally:
        os.close(writing)
    try:
        ended = subprocess.run(  # noqa: S603 (the operator's own program, or ours)
            [f"/dev/fd/{reading}" if word == "@SECRET@" else word for word in argv],
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            pass_fds=[reading] if secret else [],
            check=False,
        )
    except FileNotFoundError:
        driver.fail("settings", f"program {argv[0]} is missing on the controller: install it")
    except OSError as error:
        driver.fail("settings", f"{argv[0]} cannot be run: {error.strerror}")
    except subprocess.TimeoutExpired:
        driver.fail("unreachable", f"{argv[0]} did not end within {timeout:g} s")
    finally:
        os.close(reading)
    return Ended(ended.returncode, ended.stdout, ended.stderr)
