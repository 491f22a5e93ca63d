# SPDX-License-Identifier: Apache-2.0
"""sledc hello, and the poll that follows it, against servers over TLS. Prints TAP. $SLEDC is the build for tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from server import Handler, Pki, Server
from tap import run_tests

SLEDC = os.environ["SLEDC"]
MAC = "52:54:00:77:00:01"
NODE = "/node/v1/52-54-00-77-00-01"
VECTORS = Path(os.environ["SLED_CASES"]) / "admission/ok"
CLAIM = (VECTORS / "proven.claim").read_bytes()
HELLO = (VECTORS / "smallest.hello").read_bytes()
CLAIM_TOKEN = "sledc_525400770001_0_" + "c" * 64
TICKET = "sledt_525400770001_0_" + "a" * 64
BOOT_TOKEN = "sledb_525400770001_3_" + "b" * 64
work = Path(tempfile.mkdtemp())
pki = Pki(work)
token, ticket, root = work / "token", work / "ticket", work / "root"
answered = work / "token.server"


def fresh(with_token: str = "", with_ticket: str = "") -> None:
    """A machine that has just booted, with these files."""
    shutil.rmtree(root, ignore_errors=True)
    (root / "proc/sys/kernel/random").mkdir(parents=True)
    (root / "proc/sys/kernel/random/boot_id").write_text("0c2f5c1e-7a54-4c1f-9a55-1f3a0b8f6f5e\n")
    for file, text in ((token, with_token), (ticket, with_ticket)):
        file.unlink(missing_ok=True)
        if text:
            file.write_text(text)


def sledc(
    verb: str, server: Server, *words: str, servers: str = "", mac: str = MAC
) -> subprocess.CompletedProcess[str]:
    """One run, with a deadline. It never prints a token."""
    node = [f"servers={servers or server.url}", f"mac={mac}", f"token={token}", f"ca={pki.ca}"]
    run = subprocess.run([SLEDC, verb, *node, *words], capture_output=True, text=True, timeout=120, check=False)
    assert "sledc_" not in run.stdout + run.stderr and "sledt_" not in run.stdout + run.stderr, run
    return run


def hello(server: Server, wait: int = 60, servers: str = "", mac: str = MAC) -> subprocess.CompletedProcess[str]:
    words = f"nic={mac}", f"root={root}", f"ticket={ticket}", f"wait={wait}"
    return sledc("hello", server, *words, servers=servers, mac=mac)


def claims(body: bytes = CLAIM, **headers: str) -> Handler:
    """A claim, with its token."""
    return lambda request: request.answer(200, body, **{"Sled_Token": CLAIM_TOKEN, **headers})


def says(status: int, body: bytes = b"no", **headers: str) -> Handler:
    return lambda request: request.answer(status, body, **headers)


def bearers(server: Server) -> list[str | None]:
    """The token of each request."""
    return [seen.headers["Authorization"] for seen in server.seen]


def expect(run: subprocess.CompletedProcess[str], code: int, out: str, words: str = "") -> None:
    assert (run.returncode, run.stdout) == (code, out), run
    assert words in run.stderr, run


CODE = "claim K7QF-2M9D\nlevel proven: waiting for console,person\n"


def test_claim_of_a_new_boot() -> None:
    fresh()
    with Server(claims(), pki=pki) as server:
        expect(hello(server), 0, CODE)
    assert [(seen.path, seen.body) for seen in server.seen] == [(f"{NODE}/hello", HELLO)]
    assert server.seen[0].headers["Content-Type"] == "text/plain" and bearers(server) == [None]
    assert token.read_text() == CLAIM_TOKEN and token.stat().st_mode & 0o777 == 0o600


def test_nothing_is_missing() -> None:
    fresh()
    with Server(claims((VECTORS / "open_nothing_wanted.claim").read_bytes()), pki=pki) as server:
        run = hello(server)
    assert run.returncode == 0 and run.stdout.startswith("claim ") and run.stdout.count("\n") == 1, run


def test_ticket_is_sent_and_removed() -> None:
    fresh(with_ticket=TICKET + "\n")
    with Server(claims(), pki=pki) as server:
        expect(hello(server), 0, CODE)
        assert not ticket.exists()
        expect(hello(server), 0, CODE)
    assert bearers(server) == [f"Bearer {TICKET}", f"Bearer {CLAIM_TOKEN}"]


def test_ticket_that_is_refused() -> None:
    for status in (401, 403):
        fresh(with_ticket=TICKET)
        with Server(says(status), claims(), pki=pki) as server:
            expect(
                hello(server), 0, CODE, f"hello: ticket: {'token refused' if status == 401 else 'the token belongs'}"
            )
        assert bearers(server) == [f"Bearer {TICKET}", None] and not ticket.exists()


def test_ticket_is_kept_until_a_response() -> None:
    fresh(with_ticket=TICKET)
    with Server(lambda request: request.raw(b""), claims(), pki=pki) as server:
        expect(hello(server), 0, CODE)
    assert bearers(server) == [f"Bearer {TICKET}"] * 2 and not ticket.exists()


def test_file_that_holds_no_ticket() -> None:
    fresh(with_ticket="no ticket, but words\r\n")
    ticket.write_bytes(b"\x1b\n")
    with Server(claims(), pki=pki) as server:
        expect(hello(server), 0, CODE, "holds no token")
    assert bearers(server) == [None] and not ticket.exists()


def test_the_same_claim_again() -> None:
    fresh(with_token=CLAIM_TOKEN)
    with Server(says(200, CLAIM), pki=pki) as server:
        expect(hello(server), 0, CODE)
    assert bearers(server) == [f"Bearer {CLAIM_TOKEN}"] and token.read_text() == CLAIM_TOKEN


def test_a_claim_that_ended() -> None:
    fresh(with_token=CLAIM_TOKEN.replace("c" * 64, "d" * 64))
    with Server(says(401), claims(), pki=pki) as server:
        expect(hello(server), 0, CODE, "hello: claim: token refused")
    assert bearers(server)[1] is None and token.read_text() == CLAIM_TOKEN


def test_a_boot_token_is_not_sent() -> None:
    fresh(with_token=BOOT_TOKEN)
    with Server(claims(), pki=pki) as server:
        expect(hello(server), 0, CODE)
    assert bearers(server) == [None]


def test_busy_servers() -> None:
    for status in (429, 503):
        fresh(with_ticket=TICKET)
        with Server(says(status, Retry_After="1"), claims(), pki=pki) as server:
            expect(hello(server), 0, CODE)
        assert bearers(server) == [f"Bearer {TICKET}"] * 2


def test_the_server_that_answered_is_called_first() -> None:
    asked = 0
    for place in (0, 1):  # of the one that is busy; the MAC chooses the first of them
        fresh()
        answered.unlink(missing_ok=True)
        with Server(*[says(503)] * 4, pki=pki) as busy, Server(*[claims()] * 4, pki=pki) as good:
            servers = ",".join([busy.url, good.url] if place == 0 else [good.url, busy.url])
            expect(hello(good, servers=servers), 0, CODE)
            expect(hello(good, servers=servers), 0, CODE)
            assert len(good.seen) == 2
            asked += len(busy.seen)
    assert asked == 1


def test_machines_spread_over_the_servers() -> None:
    with Server(*[claims()] * 16, pki=pki) as one, Server(*[claims()] * 16, pki=pki) as other:
        for n in range(16):
            fresh()
            answered.unlink(missing_ok=True)
            expect(hello(one, servers=f"{one.url},{other.url}", mac=f"52:54:00:77:00:{n:02x}"), 0, CODE)
        calls = len(one.seen), len(other.seen)
    assert sum(calls) == 16 and min(calls) > 2, calls


def test_busy_until_the_deadline() -> None:
    fresh(with_ticket=TICKET)
    with Server(says(429, b"another claim", Retry_After="30"), pki=pki) as server:
        expect(hello(server, 1), 6, "", "429: another claim")
    assert len(server.seen) == 1 and ticket.exists()


def test_refused_for_good() -> None:
    for status in (400, 401, 403, 404, 413):
        fresh()
        with Server(says(status, b"line 2: nic"), pki=pki) as server:
            expect(hello(server), 6, "refused\n", "line 2: nic")
        assert len(server.seen) == 1 and not token.exists()


def test_responses_that_are_no_claim() -> None:
    for body, words in ((b"claim 2\n", "line 1: "), (CLAIM + b"x\n", "line 3: "), (b"", "line 1: ")):
        fresh()
        with Server(claims(body), pki=pki) as server:
            expect(hello(server), 2, "", words)
    fresh()
    with Server(claims(b"x" * 4097), pki=pki) as server:
        run = hello(server, 0)
    assert run.returncode != 0 and not run.stdout, run


def test_responses_without_a_claim_token() -> None:
    fresh()
    with Server(says(200, CLAIM), pki=pki) as server:
        expect(hello(server), 6, "", "sent no claim token")
    with Server(says(200, CLAIM, Sled_Token=BOOT_TOKEN), pki=pki) as server:
        expect(hello(server), 6, "", "sent no claim token")


def test_stranger_is_not_believed() -> None:
    fresh(with_ticket=TICKET)
    with Server(claims(), pki=pki, name="other_ca") as server:
        run = hello(server, 0)
    assert run.returncode != 0 and not run.stdout and not server.seen and ticket.exists(), run


def test_poll_of_a_claim() -> None:
    fresh(with_token=CLAIM_TOKEN)
    handlers = says(204), says(204, Sled_Token=BOOT_TOKEN), says(204)
    with Server(*handlers, pki=pki) as server:
        polls = [sledc("plan", server, f"out={work}/plan", "wait=0").stdout for _ in range(3)]
    assert polls == ["waiting\n", "unchanged\n", "unchanged\n"], polls
    assert bearers(server) == [f"Bearer {t}" for t in (CLAIM_TOKEN, CLAIM_TOKEN, BOOT_TOKEN)]
    assert token.read_text() == BOOT_TOKEN and token.stat().st_mode & 0o777 == 0o600


def test_facts_of_a_claim() -> None:
    """They are silent, unless they admit the claim."""
    fresh(with_token=CLAIM_TOKEN)
    handlers = says(204), says(204, Sled_Token=BOOT_TOKEN), says(204), says(204, Sled_Token=BOOT_TOKEN[:-1] + "c")
    with Server(*handlers, pki=pki) as server:
        said = [sledc("facts", server, f"root={os.environ['SLED_TREE']}").stdout for _ in range(4)]
    assert said == ["", "admitted\n", "", ""], said
    assert bearers(server) == [f"Bearer {t}" for t in (CLAIM_TOKEN, CLAIM_TOKEN, BOOT_TOKEN, BOOT_TOKEN)]
    assert token.read_text() == BOOT_TOKEN[:-1] + "c" and token.stat().st_mode & 0o777 == 0o600


def test_facts_of_a_claim_that_ended() -> None:
    fresh(with_token=CLAIM_TOKEN)
    with Server(says(401), pki=pki) as server:
        run = sledc("facts", server, f"root={os.environ['SLED_TREE']}")
    assert (run.returncode, run.stdout) == (6, "") and token.read_text() == CLAIM_TOKEN, run


def test_poll_of_a_claim_that_ended() -> None:
    for status in (401, 403):
        fresh(with_token=CLAIM_TOKEN)
        with Server(says(status), pki=pki) as server:
            run = sledc("plan", server, f"out={work}/plan", "wait=0")
        assert (run.returncode, run.stdout) == (6, "denied\n"), run


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
