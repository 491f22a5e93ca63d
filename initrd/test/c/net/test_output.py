# SPDX-License-Identifier: Apache-2.0
"""Output of a job to servers that take it, refuse it, and are full for a while. Prints TAP. $SLEDC is the build for
tests."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

import program
from server import Pki, Server
from tap import run_tests

SLEDC = program.for_tests()
DATA = b"12 GFLOPS\n" * 60_000  # three segments
FIGURES = f"out={len(DATA)} out_sha256={hashlib.sha256(DATA).hexdigest()}\n"
work = Path(tempfile.mkdtemp())
pki = Pki(work)
(work / "token").write_text("sledb_first\n")


def output(server: Server) -> tuple[int, str]:
    """The exit code, and what was printed."""
    words = [SLEDC, "output", "stream=out", f"upload={server.url}/upload/jobs/1kq7d2g3r9qa", f"token={work}/token"]
    run = subprocess.run([*words, f"ca={pki.ca}"], input=DATA, stdout=subprocess.PIPE, timeout=100, check=False)
    return run.returncode, run.stdout.decode()


def test_taken() -> None:
    with Server(lambda r: r.answer(201), pki=pki) as s:
        assert output(s) == (0, FIGURES)
        assert b"".join(r.body for r in s.seen) == DATA
        assert s.seen[0].path == "/upload/jobs/1kq7d2g3r9qa/out.000001"
        assert s.seen[0].headers["Authorization"] == "Bearer sledb_first"


def test_refused() -> None:
    """The rest is read and dropped, so that the program goes on; the figures are those of all of it."""
    for status in (401, 403, 404, 409, 413, 507):
        with Server(lambda r: r.answer(201), lambda r, status=status: r.answer(status), pki=pki) as s:
            assert output(s) == (6, FIGURES), status
            assert [r.path[-6:] for r in s.seen] == ["000001", "000002"], status


def test_full_for_a_while() -> None:
    """The same bytes are put again under the same name."""
    for status in (429, 500, 503):
        with Server(lambda r, status=status: r.answer(status), lambda r: r.answer(201), pki=pki) as s:
            assert output(s) == (0, FIGURES), status
            assert s.seen[0].path == s.seen[1].path and s.seen[0].body == s.seen[1].body
            assert b"".join(r.body for r in s.seen[1:]) == DATA


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
