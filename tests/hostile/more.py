# SPDX-License-Identifier: Apache-2.0
"""Attacks on the servers, on what they store and on what they publish; further ways to claim."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor

from ansible_collections.sled.fleet.tests.hostile.attacks import attack, attack_servers
from ansible_collections.sled.fleet.tests.hostile.stranger import Stranger

LONG = "9" * 256  # the longest identifier


@attack
def claim_by_another_interface(stranger: Stranger) -> None:
    """Claims to be the node by the MAC of the node's other interface."""
    other = stranger.victim.other
    mac = other.replace(":", "-")
    stranger.request("GET", f"/boot/{mac}.ipxe", plain=True)
    answer = stranger.say("POST", "hello", f"hello 1\nboot id={stranger.boot} nic={other}\n", mac=mac)
    stranger.say("GET", "plan", token=answer.token, mac=mac)
    stranger.everything(answer.token)


@attack
def claim_at_the_same_time(stranger: Stranger) -> None:
    """Claims to be the node eight times at the same moment, from eight addresses."""
    path, base = f"/node/v1/{stranger.victim.hyphens}", stranger.address.rpartition(".")[0]

    def claim(number: int) -> None:
        source = f"{base}.{number + 1}"
        body = f"hello 1\nboot id={stranger.boot}-{number} nic={stranger.victim.mac}\n".encode()
        with contextlib.closing(stranger.site.links(source)) as site:
            first = site.request("POST", f"{path}/hello", body)
            poll = site.request("GET", f"{path}/plan", headers={"Authorization": f"Bearer {first.token}"})
            stranger.answers += [first, poll]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(claim, range(8)))


@attack
def claim_from_the_victims_address(stranger: Stranger) -> None:
    """Claims to be the node from the node's own IP address."""
    stranger.move(stranger.victim.address)
    stranger.enter()


@attack
def claim_with_its_serial_number(stranger: Stranger) -> None:
    """Claims to be a machine with another MAC, and the node's serial number and system identifier."""
    mac = stranger.victim.hyphens.replace("52-54-00", "52-54-7f")
    text = f"hello 1\nboot id={stranger.boot} nic={mac.replace('-', ':')} uuid={stranger.victim.boot} serial=1\n"
    answer = stranger.say("POST", "hello", text, mac=mac)
    stranger.everything(answer.token)


@attack
def use_the_ticket_of_another(stranger: Stranger) -> None:
    """Claims to be the node with the ticket of another node, also with the node's MAC in it."""
    path = f"/v1/nodes/{stranger.neighbour.name}/tickets"
    ticket: str = stranger.site.operator("POST", path).json()["token"]
    plain = stranger.neighbour.mac.replace(":", ""), stranger.victim.mac.replace(":", "")
    for token in (ticket, ticket.replace(*plain)):
        stranger.hello(token)
        stranger.everything(token)


@attack
def hold_polls(stranger: Stranger) -> None:
    """Claims to be the node, and keeps 100 requests for its plan open, while the node continues."""
    stranger.hello()
    head = f"GET /node/v1/{stranger.victim.hyphens}/plan?wait=60 HTTP/1.1\r\nHost: sled\r\nAuthorization: Bearer "
    with contextlib.ExitStack() as polls:
        for _ in range(100):
            polls.enter_context(stranger.connect()).sendall(f"{head}{stranger.claim}\r\n\r\n".encode())
        assert stranger.victim.alive()
    stranger.say("GET", "plan?wait=1", token=stranger.claim)


@attack
def hold_uploads(stranger: Stranger) -> None:
    """Starts ten uploads without a token, and never ends them, while the node continues and uploads its image."""
    victim, base = stranger.victim, stranger.address.rpartition(".")[0]
    file = f"/upload/{victim.hyphens}-{victim.generation}.raw.zst"
    head = f"PUT {file} HTTP/1.1\r\nHost: sled\r\nContent-Length: 100000\r\n\r\nhalf"
    with contextlib.ExitStack() as uploads:
        for number in range(10):
            uploads.enter_context(victim.site.connect(f"{base}.{number // 2 + 1}")).sendall(head.encode())
        for _ in range(2):
            assert victim.alive()
            if victim.token and victim.site.node(victim.name)["status"]["phase"] == "capturing":
                headers = {"Authorization": f"Bearer {victim.token}"}
                assert victim.links.request("PUT", file, b"image", headers).status == 201


@attack_servers
def send_half_headers(stranger: Stranger) -> None:
    """Opens 20 connections and sends half of a header on each, while the node continues."""
    head = f"GET /node/v1/{stranger.victim.hyphens}/plan HTTP/1.1\r\nHost: sl"
    with contextlib.ExitStack() as open_ones:
        for _ in range(20):
            open_ones.enter_context(stranger.connect()).sendall(head.encode())
        assert stranger.victim.alive()


@attack_servers
def poison_the_cache(stranger: Stranger) -> None:
    """Requests the node's boot script with queries, ranges and conditions, to leave another one in the cache."""
    path = f"/boot/{stranger.victim.hyphens}.ipxe"
    before = stranger.request("GET", path, plain=True).body
    for headers in (
        {"Range": "bytes=0-3"},
        {"If-None-Match": "*"},
        {"If-Range": '"x"', "Range": "bytes=3-"},
        {"Accept-Encoding": "gzip"},
        {"X-HTTP-Method-Override": "PUT"},
        {"Cache-Control": "no-store", "Pragma": "no-cache"},
    ):
        for query in ("", "?mac=52-54-00-00-00-99", "?%0d%0aSet-Cookie:x"):
            stranger.request("GET", path + query, headers=headers, plain=True)
    assert stranger.request("GET", path, plain=True).body == before


@attack_servers
def change_the_protocol(stranger: Stranger) -> None:
    """Sends what is no plain HTTPS request: upgrades, tunnels, headers of a proxy, HTTP/0.9 and HTTP/2."""
    name, end = stranger.victim.name, "Host: sled\r\nConnection: close\r\n\r\n"
    for text in (
        f"GET /v1/nodes/{name} HTTP/1.1\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n{end}",
        f"CONNECT 127.0.0.1:22 HTTP/1.1\r\n{end}",
        f"GET http://sledd/v1/nodes/{name} HTTP/1.1\r\n{end}",
        f"PROXY TCP4 127.0.0.1 127.0.0.1 1 443\r\nGET /v1/nodes/{name} HTTP/1.1\r\n{end}",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        f"GET /v1/nodes/{name}\r\n\r\n",
    ):
        stranger.raw(text.encode())


@attack_servers
def take_what_is_not_published(stranger: Stranger) -> None:
    """Downloads states, keys, logs, lists of files and half-uploaded images beside what is published."""
    for path in (
        "/admin.token",
        "/key",
        "/sledd.log",
        "/nginx.conf",
        "/etcd/member/snap/db",
        "/images/",
        "/images/captured/",
        "/images/captured/.part/0000000001",
        "/images/../admin.token",
        "/images/captured/../../admin.token",
        "/sled/",
        "/boot/",
    ):
        for plain in (True, False):
            answer = stranger.request("GET", path, plain=plain)
            assert answer.status >= 400, (path, answer)


@attack
def send_what_no_grammar_allows(stranger: Stranger) -> None:
    """Claims to be the node, and sends hardware and reports that are binary, endless or of another version."""
    stranger.hello()
    for data in (
        b"\0" * 100,
        b"\xff\xfe" * 50,
        b"hello 2\nboot id=x\n",
        b"\n" * 1000,
        b"facts 1\n" * 500,
        b"a=" * 2000,
    ):
        for what in ("hello", "facts", "report", "log?step=1", "operational"):
            stranger.say("POST", what, data, stranger.claim)


@attack
def put_tokens_into_text(stranger: Stranger) -> None:
    """Claims to be the node, with text in the form of a token as serial number and hardware."""
    token = f"sledb_{stranger.victim.mac.replace(':', '')}_1_{'ab' * 32}"
    stranger.hello(more=f" serial={token} uuid={token}")
    facts = f"facts 1\nboot {stranger.boot}\nkernel release={token} uptime=1\ndmi serial={token}\n"
    stranger.say("POST", "facts", facts, stranger.claim)
    name = stranger.victim.name
    for path in (f"/v1/nodes/{name}", f"/v1/nodes/{name}/admission", f"/v1/nodes/{name}/events"):
        assert token.encode() not in stranger.site.operator("GET", path).body, path


@attack
def fill_the_store(stranger: Stranger) -> None:
    """Claims to be the node from ten addresses, and sends as much hardware, logs and reports as it can."""
    disks = "".join(f"disk name=d{number} serial={LONG}\n" for number in range(120))
    base = stranger.address.rpartition(".")[0]
    for number in range(10):
        stranger.move(f"{base}.{number + 1}")
        stranger.boot = f"{stranger.boot[:20]}-{number}"
        stranger.hello(more=f" uuid={LONG} serial={LONG}")
        facts = f"facts 1\nboot {stranger.boot}\n{disks}"
        assert len(facts) > 30_000
        for _ in range(2):
            stranger.say("POST", "facts", facts, stranger.claim)
        for what in ("log?step=1", "lastwords", "report"):
            stranger.say("POST", what, "9" * 60_000, stranger.claim)
