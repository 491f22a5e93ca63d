# SPDX-License-Identifier: Apache-2.0
"""sledc against servers that cut, lie, refuse and are late. Prints TAP. $SLEDC is the build for tests."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import program
from server import Pki, Request, Server
from tap import run_tests

SLEDC = program.for_tests()
MIB = 1 << 20
MAC = "mac=52:54:00:77:00:01"
NODE = "/node/v1/52-54-00-77-00-01"
PLAN = b"plan 1\ngeneration 4 run 7\nidle\n"
work = Path(tempfile.mkdtemp())
pki = Pki(work)
token = work / "token"


def sledc(*words: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """One run, with a deadline."""
    return subprocess.run(
        [SLEDC, *words],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "SLED_CA": str(pki.ca), **env},
    )


def api(server: Server | str, *words: str) -> list[str]:
    """Operands of a verb that talks to sledd."""
    token.write_text("sledb_first\n")
    servers = server if isinstance(server, str) else server.url
    return [f"servers={servers}", MAC, f"token={token}", f"ca={pki.ca}", *words]


def write(url: str) -> subprocess.CompletedProcess[str]:
    """Writes to a disk of 8 MiB, if the server is believed at all. What becomes of images is in ../write."""
    disk, pem, public = work / "disk", work / "image.key", work / "image.pub"
    disk.write_bytes(b"\xa5" * (8 * MIB))
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", pem], check=True, capture_output=True)
    subprocess.run(["openssl", "pkey", "-in", pem, "-pubout", "-out", public], check=True, capture_output=True)
    words = ["write", "disk=only", f"image={url}", f"digest=sha256:{'0' * 64}"]
    return sledc(*words, SLED_TEST_DISK=str(disk), SLED_TEST_IDLE="20", SLED_KEYS=str(public))


def expect(run: subprocess.CompletedProcess[str], code: int, words: str = "") -> None:
    """The exit code, and words among what it said."""
    assert run.returncode == code, f"exit {run.returncode}, not {code}: {run.stdout}{run.stderr}"
    assert words in run.stdout + run.stderr, f"no {words!r} in {run.stdout}{run.stderr}"


def test_plan_is_stored() -> None:
    out = work / "plan"
    with Server(lambda r: r.answer(200, PLAN, Sled_Token="sledb_second"), pki=pki) as s:
        expect(sledc("plan", *api(s, f"out={out}", "run=6", "wait=1")), 0, "generation 4 run 7")
        assert s.seen[0].path == NODE + "/plan?wait=1&run=6", s.seen[0].path
        assert s.seen[0].headers["Authorization"] == "Bearer sledb_first"
    assert out.read_bytes() == PLAN
    assert token.read_text() == "sledb_second"
    assert token.stat().st_mode & 0o777 == 0o600


def test_plan_unchanged() -> None:
    out = work / "none"
    with Server(lambda r: r.answer(204), pki=pki) as s:
        expect(sledc("plan", *api(s, f"out={out}", "wait=0")), 0, "unchanged")
    assert not out.exists()


def test_plan_denied() -> None:
    for status in (401, 403):
        with Server(lambda r, status=status: r.answer(status, b'{"title":"x","detail":"expired"}'), pki=pki) as s:
            run = sledc("plan", *api(s, f"out={work}/none", "wait=1"))
            expect(run, 6, "expired")
            assert run.stdout == "denied\n", run.stdout


def test_plan_bad() -> None:
    out = work / "none"
    with Server(lambda r: r.answer(200, b"plan 1\nidle\n"), pki=pki) as s:
        expect(sledc("plan", *api(s, f"out={out}", "wait=0")), 2, "generation")
    with Server(lambda r: r.answer(200, PLAN), pki=pki) as s:
        for run in ("7", "8"):
            expect(sledc("plan", *api(s, f"out={out}", f"run={run}", "wait=0")), 1, f"run 7 after run {run}")
    with Server(lambda r: r.answer(200, b"x" * 1_000_000), pki=pki) as s:
        expect(sledc("plan", *api(s, f"out={out}", "wait=0")), 6, "longer than")
    assert not out.exists()


def test_plan_unknown_verb_is_for_init_to_report() -> None:
    out = work / "refused"
    with Server(lambda r: r.answer(200, b"plan 1\ngeneration 1 run 1\nerase disk=only\nidle\n"), pki=pki) as s:
        expect(sledc("plan", *api(s, f"out={out}", "wait=0")), 0, "generation 1")
    expect(sledc("check-plan", str(out)), 2, "unknown verb erase")


def test_plan_other_server() -> None:
    with Server(lambda r: r.answer(503), pki=pki) as busy, Server(lambda r: r.answer(200, PLAN), pki=pki) as s:
        s.handshake = 3
        words = api(f"https://127.0.0.1:1,{busy.url},{s.url}", f"out={work}/p", "wait=0")
        expect(sledc("plan", *words), 0, "generation 4 run 7")
    expect(sledc("plan", *api("https://127.0.0.1:1", f"out={work}/p", "wait=0")), 6, "refused")


def test_plan_comes_back() -> None:
    with Server(lambda r: r.answer(503), lambda r: r.answer(503), lambda r: r.answer(200, PLAN), pki=pki) as s:
        expect(sledc("plan", *api(s, f"out={work}/p", "wait=30")), 0, "generation 4 run 7")


def test_certificates() -> None:
    for name in ("other_name", "other_ca"):
        with Server(lambda r: r.answer(200, PLAN), pki=pki, name=name) as s:
            expect(sledc("plan", *api(s, f"out={work}/p", "wait=0")), 6, "certificate refused")
            expect(write(s.url + "/i"), 6, "certificate refused")
            assert not s.seen, "a request was sent"


def test_facts_and_seed() -> None:
    with Server(
        lambda r: r.answer(204), lambda r: r.answer(200, b"tar"), lambda r: r.answer(403, b"given already"), pki=pki
    ) as s:
        expect(sledc("facts", *api(s, f"root={os.environ['SLED_TREE']}")), 0)
        assert s.seen[0].path == NODE + "/facts" and s.seen[0].body.startswith(b"facts 1\nboot ")
        expect(sledc("seed", *api(s, f"out={work}/seed.tar")), 0)
        assert (work / "seed.tar").read_bytes() == b"tar" and (work / "seed.tar").stat().st_mode & 0o777 == 0o600
        expect(sledc("seed", *api(s, f"out={work}/seed.tar")), 6, "given already")


WITHHELD = b'{"title":"Conflict","detail":"not yet: another machine may claim to be the node"}'


def withheld(request: Request) -> None:
    """A secret that is not released yet."""
    request.answer(409, WITHHELD, Retry_After="1")


def test_seed_is_waited_for() -> None:
    with Server(withheld, withheld, lambda r: r.answer(200, b"tar"), pki=pki) as s:
        run = sledc("seed", *api(s, f"out={work}/late.tar"))
        expect(run, 0)
        reason = "withheld (409): not yet: another machine may claim to be the node"
        assert run.stdout == f"detail waited for the seed: {reason}\n", run
        assert [r.path for r in s.seen] == [NODE + "/seed"] * 3
    assert (work / "late.tar").read_bytes() == b"tar"
    with Server(withheld, lambda r: r.answer(403, b"revoked"), pki=pki) as s:
        expect(sledc("seed", *api(s, f"out={work}/none.tar")), 6, "revoked")
        assert len(s.seen) == 2 and not (work / "none.tar").exists()


def test_operational() -> None:
    line = work / "operational"
    with Server(lambda r: r.answer(503), lambda r: r.answer(204), pki=pki) as s:
        line.write_text(f"operational server={s.url} {MAC} generation=3 token=sledo_x\n")
        expect(sledc("operational", f"from={line}", f"ca={pki.ca}", f"root={os.environ['SLED_TREE']}"), 0)
        assert s.seen[-1].headers["Authorization"] == "Bearer sledo_x"
        assert s.seen[-1].body.startswith(b"operational 1\ngeneration 3\nos id=debian version=12%3F "), s.seen[-1].body
    (work / "lacks").write_text("sshd does not let root in (a)\ncloud-init has not read the seed\n")
    with Server(lambda r: r.answer(204), pki=pki) as s:
        line.write_text(f"operational server={s.url} {MAC} generation=3 token=sledo_x\n")
        words = (f"from={line}", f"ca={pki.ca}", f"root={os.environ['SLED_TREE']}", f"lacks={work}/lacks")
        expect(sledc("operational", *words), 0)
        lacks = b" lacks=sshd%20does%20not%20let%20root%20in%20%28a%29;%20cloud-init%20has%20not%20read%20the%20seed\n"
        assert s.seen[-1].body.endswith(lacks), s.seen[-1].body
    expect(sledc("operational", MAC), 2, "needs")


def report(server: Server | str, *words: str) -> list[str]:
    """Operands of report."""
    return ["report", *api(server, "generation=3", "run=7", "step=2", "of=4", "verb=write", f"log={work}/log", *words)]


def test_report() -> None:
    with Server(lambda r: r.answer(204), pki=pki) as s:
        expect(sledc(*report(s, "boot=B"), stdin="progress bytes=5 total=10 rate=1\nother output\nend code=0\n"), 0)
        bodies = b"".join(r.body for r in s.seen).decode()
        assert bodies.startswith("report 1\ngeneration 3 run 7\nboot B\nbegin step=2 of=4 verb=write\n"), bodies
        assert (
            bodies.count("\nbegin ") == 1
            and bodies.count("\nend ") == 1
            and "\nend step=2 verb=write code=0 seconds=" in bodies
        ), bodies[:500]
        assert not any("/log" in r.path for r in s.seen)
        expect(sledc(*report(s), stdin=""), 1)


def test_report_of_a_capture() -> None:
    image = f"digest=sha256:{'8f' * 32} bytes=4294967296 file_bytes=612345678 upload={'5e' * 16}"
    said = f"detail first\nprogress bytes=5\ndetail 1.5 GB used\nimage {image}\nend code=0\n"
    with Server(lambda r: r.answer(204), pki=pki) as s:
        words = api(s, "generation=3", "run=7", "step=1", "of=2", "verb=capture", f"log={work}/log", "boot=B")
        expect(sledc("report", *words, stdin=said), 0)
        last = s.seen[-1].body.decode().splitlines()[-1]
        assert last.startswith("end step=1 verb=capture code=0 seconds="), last
        assert last.endswith(f" detail=1.5%20GB%20used {image}"), last


def test_report_failure() -> None:
    (work / "log").write_text("x" * 100_000 + "\nwrite: digest mismatch\n\n")
    with Server(lambda r: r.answer(503, Retry_After="1"), lambda r: r.answer(204), pki=pki) as s:
        expect(sledc(*report(s), stdin="end code=5\n"), 5)
        assert s.seen[-1].path == NODE + "/log?step=2"
        assert "reason=write:%20digest%20mismatch\n" in s.seen[-2].body.decode()
        log = s.seen[-1].body
        assert len(log) <= 65536 and b"\nwrite: digest mismatch\n\n--- dmesg\n" in log


def test_report_begin_alone() -> None:
    with Server(lambda r: r.answer(204), pki=pki) as s:
        expect(sledc(*report(s, "boot=B", "begin=only")), 0, "accepted")
        assert [r.body for r in s.seen] == [b"report 1\ngeneration 3 run 7\nboot B\nbegin step=2 of=4 verb=write\n"]
        expect(sledc(*report(s, "begin=done"), stdin="end code=0\n"), 0)
        assert not any(b"\nbegin " in r.body for r in s.seen[1:])
    for status in (400, 401, 403, 409):
        with Server(lambda r, status=status: r.answer(status, b"no"), pki=pki) as s:
            run = sledc(*report(s, "begin=only"))
            assert run.stdout == "refused\n", run
            expect(run, 6, f"{status}")
    with Server(lambda r: r.answer(503), pki=pki) as s:
        expect(sledc(*report(s, "begin=only")), 6, "unanswered")
    expect(sledc(*report("https://127.0.0.1:1", "begin=only")), 6, "unanswered")


def test_report_of_an_end_and_the_next_begin() -> None:
    """One request has both, unless the step fails."""
    with Server(lambda r: r.answer(204), pki=pki) as s:
        run = sledc(*report(s, "begin=done", "next=configure"), stdin="end code=0\n")
        assert (run.returncode, run.stdout) == (0, "accepted\n"), run
        end, begin = s.seen[-1].body.decode().splitlines()[3:]
        assert end.startswith("end step=2 ") and begin == "begin step=3 of=4 verb=configure", s.seen[-1].body
        s.seen.clear()
        expect(sledc(*report(s, "begin=done", "next=configure"), stdin="end code=5\n"), 5)
        assert [r.body.count(b"begin ") for r in s.seen if r.path.endswith("/report")] == [0]
    with Server(lambda r: r.answer(403), pki=pki) as s:
        run = sledc(*report(s, "begin=done", "next=configure"), stdin="end code=0\n")
        assert (run.returncode, run.stdout) == (6, ""), run


def test_report_waits_as_it_is_told() -> None:
    """The pause between two reports is that of the response; an end does not wait."""
    first = threading.Event()

    def answer(request: Request) -> None:
        first.set()
        request.answer(204, Retry_After="86400")

    with Server(answer, pki=pki) as s:
        run = subprocess.Popen([SLEDC, *report(s, "begin=done")], stdin=subprocess.PIPE, text=True)
        assert run.stdin
        run.stdin.write("progress bytes=1 total=10\n")
        run.stdin.flush()
        assert first.wait(60)
        run.communicate("progress bytes=2 total=10\nend code=0\n", timeout=60)
        assert len(s.seen) == 2 and b"\nend " in s.seen[1].body, s.seen


def test_report_refused_later() -> None:
    """A step that is done although its start or its end is refused: the plan must not go on."""
    with Server(lambda r: r.answer(403), pki=pki) as s:
        expect(sledc(*report(s), stdin="end code=0\n"), 6, "403")
        expect(sledc(*report(s), stdin="end code=5\n"), 5, "403")


def test_report_of_an_end_that_is_withheld() -> None:
    """It is sent again until it is accepted; progress in between shows that the machine is still there."""

    def answer(request: Request) -> None:
        early = sum(b"\nend " in seen.body for seen in s.seen) < 4
        request.answer(409 if early and b"\nend " in request.body else 204, WITHHELD, Retry_After="3")

    with Server(answer, pki=pki) as s:
        expect(sledc(*report(s, "begin=done"), stdin="end code=0\n"), 0, "withheld (409): not yet")
        kinds = [r.body.decode().splitlines()[3].split()[0] for r in s.seen]
    assert kinds.count("end") == 4 and kinds[0] == kinds[-1] == "end" and "progress" in kinds, kinds


def test_report_of_a_step_without_news() -> None:
    """Its last progress is sent again, until the step ends."""
    said = threading.Event()

    def answer(request: Request) -> None:
        if sum(b"\nprogress step=2 verb=write bytes=5 total=10 rate=0\n" in seen.body for seen in s.seen) > 1:
            said.set()
        request.answer(204)

    with Server(answer, pki=pki) as s:
        run = subprocess.Popen([SLEDC, *report(s)], stdin=subprocess.PIPE, text=True)
        assert run.stdin
        run.stdin.write("progress bytes=5 total=10\n")
        run.stdin.flush()
        assert said.wait(60)
        run.stdin.write("end code=0\n")
        run.stdin.close()
        assert run.wait(timeout=30) == 0
        assert b"\nend " in s.seen[-1].body and not any(b"\nend " in r.body for r in s.seen[:-1])


def test_report_server_comes_late() -> None:
    """Standard input is emptied while nobody answers; begin and end arrive later, both."""
    with Server(lambda r: r.answer(204), pki=pki) as reserve:
        port = reserve.port
    run = subprocess.Popen([SLEDC, *report(f"https://127.0.0.1:{port}")], stdin=subprocess.PIPE, text=True)
    assert run.stdin
    for n in range(20_000):  # far more than a pipe holds
        run.stdin.write(f"progress bytes={n} total=20000 rate=1\n")
    run.stdin.write("end code=0\n")
    run.stdin.close()
    with Server(lambda r: r.answer(204), pki=pki, port=port) as s:
        assert run.wait(timeout=30) == 0
        bodies = b"".join(r.body for r in s.seen).decode()
        assert "\nbegin " in bodies and "\nend " in bodies, bodies[:500]


def test_wipe_and_grow() -> None:
    disk = work / "disk"
    disk.write_bytes(b"\xa5" * (8 * MIB))
    expect(sledc("grow", "disk=only", SLED_TEST_DISK=str(disk)), 0)
    assert disk.read_bytes() == b"\xa5" * (8 * MIB)
    done = sledc("wipe", "disks=only", SLED_TEST_DISK=str(disk))
    expect(done, 0, "progress bytes=8388608 total=8388608")
    assert not any(disk.read_bytes())


def test_wipe_of_several() -> None:
    disks = [work / f"disk{n}" for n in range(3)]
    for disk in disks:
        disk.write_bytes(b"\xa5" * (2 * MIB))
    done = sledc("wipe", "disks=all", "level=clear", SLED_TEST_DISK=":".join(map(str, disks)))
    expect(done, 0, "detail clear: 3 disks")
    assert done.stdout.count("erasure result=good ") == 3, done.stdout
    assert len({disk.read_bytes() for disk in disks}) == 3
    assert not any(b"\xa5" * 64 in disk.read_bytes() for disk in disks)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
