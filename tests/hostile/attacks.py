# SPDX-License-Identifier: Apache-2.0
"""The attacks. The first sentence of each is its row in docs/security.md."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from ansible_collections.sled.fleet.tests.hostile.site import ADMIN
from ansible_collections.sled.fleet.tests.hostile.stranger import Stranger
from ansible_collections.sled.fleet.tests.unit.front import UPLOAD

Attack = Callable[[Stranger], None]
ATTACKS: list[Attack] = []
ON_SERVERS: set[Attack] = set()  # those to which the state of the node makes no difference


def attack(act: Attack) -> Attack:
    """Adds an attack to the table, in this order."""
    ATTACKS.append(act)
    return act


def attack_servers(act: Attack) -> Attack:
    """Adds an attack on what is the same for every node."""
    ON_SERVERS.add(act)
    return attack(act)


# Without any token.


@attack
def fetch_the_boot_script(stranger: Stranger) -> None:
    """Requests the node's boot script forty times, by GET and by HEAD."""
    for number in range(40):
        stranger.request("HEAD" if number % 4 else "GET", f"/boot/{stranger.victim.hyphens}.ipxe", plain=True)


@attack
def ask_without_a_token(stranger: Stranger) -> None:
    """Requests the node's plan and secrets and reports its steps, without any token."""
    stranger.everything("")


@attack_servers
def ask_over_plain_http(stranger: Stranger) -> None:
    """Requests the node's plan and secrets, and the list of nodes, without TLS."""
    for path in (f"/node/v1/{stranger.victim.hyphens}/plan", f"/node/v1/{stranger.victim.hyphens}/seed", "/v1/nodes"):
        stranger.request("GET", path, headers={"Authorization": f"Bearer {stranger.claim}"}, plain=True)


@attack
def be_an_operator(stranger: Stranger) -> None:
    """Claims to be the node, and sends requests of an operator without a token or with a wrong one."""
    stranger.hello()
    name = stranger.victim.name
    for token in ("", "x" * 40, ADMIN[:-1], ADMIN.upper(), stranger.claim, stranger.neighbour.token):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        for method, path in (
            ("GET", "/v1/nodes"),
            ("GET", "/v1/claims"),
            ("GET", f"/v1/nodes/{name}/console"),
            ("GET", "/v1/audit"),
            ("DELETE", f"/v1/nodes/{name}"),
            ("DELETE", f"/v1/bindings/{name}"),
            ("POST", f"/v1/nodes/{name}/tickets"),
            ("POST", f"/v1/nodes/{name}/boot"),
            ("POST", f"/v1/nodes/{name}/revoke"),
            ("POST", "/v1/store/heal"),
            ("POST", "/v1/jobs"),
            ("DELETE", f"/v1/jobs/{stranger.victim.job}"),
            ("GET", f"/v1/jobs/{stranger.victim.job}/files/out.000001"),
            ("GET", f"/images/captured/jobs/{stranger.victim.job}/out.000001"),
        ):
            stranger.request(method, path, headers=headers)


@attack_servers
def climb_out_of_a_path(stranger: Stranger) -> None:
    """Requests files outside of what is served, by dots, encoded slashes and line breaks in paths."""
    for path in (
        "/boot/..%2f..%2fetc%2fpasswd",
        "/boot/%2e%2e/v1/nodes",
        "/images/../v1/nodes",
        "/images/%2e%2e/%2e%2e/admin.token",
        "/images/captured/",
        "/images/captured/.part/",
        "/sled/..%2f..%2fadmin.token",
        "/upload/allowed",
        "/boot/" + "a" * 4000 + ".ipxe",
        f"/boot/{stranger.victim.hyphens}.ipxe%0d%0aX-A:%20b",
    ):
        stranger.request("GET", path, plain=True)
        stranger.request("GET", path)


@attack
def upload_an_image(stranger: Stranger) -> None:
    """Claims to be the node, and uploads a file as the image of the node's disk."""
    target = f"/upload/{stranger.victim.hyphens}-{stranger.generation}.raw.zst"
    stranger.hello()
    for token in ("", stranger.claim, stranger.neighbour.token):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        stranger.request("PUT", target, b"x" * 4096, headers)
    stranger.request("PUT", target.replace("/upload/", "/upload/..%2f"), b"x" * 4096)


@attack_servers
def use_a_group_address(stranger: Stranger) -> None:
    """Claims to be a machine whose MAC is a broadcast, multicast or zero address, or none at all."""
    for mac in ("ff-ff-ff-ff-ff-ff", "01-00-5e-00-00-01", "00-00-00-00-00-00", "52-54", "..", "%00"):
        stranger.request("GET", f"/boot/{mac}.ipxe", plain=True)
        stranger.say("POST", "hello", f"hello 1\nboot id=b nic={mac.replace('-', ':')}\n", mac=mac)


@attack
def send_what_is_too_long(stranger: Stranger) -> None:
    """Claims to be the node, and sends requests that are too long."""
    stranger.hello(more=" serial=" + "a" * 4096)
    stranger.say("POST", "hello", b"x" * (2 << 20))
    stranger.hello()
    stranger.say("POST", "facts", b"x" * (65 << 10), stranger.claim)
    stranger.say("POST", "report", b"x" * (2 << 20), stranger.claim)
    stranger.request("GET", "/v1/nodes", headers={"X": "a" * 40_000})


# With a claim.


@attack
def claim_and_ask(stranger: Stranger) -> None:
    """Claims to be the node, requests its plan and secrets, and reports its steps."""
    stranger.enter()


@attack
def claim_and_wait(stranger: Stranger) -> None:
    """Claims to be the node, and requests its plan three times while the node continues."""
    stranger.hello()
    for _ in range(3):
        stranger.victim.alive()
        answer = stranger.say("GET", "plan", token=stranger.claim)
        stranger.token = answer.token if answer.token.startswith("sledb_") else stranger.token
    stranger.everything(stranger.claim)


@attack
def claim_before_the_operator_acts(stranger: Stranger) -> None:
    """Claims to be the node before an operator selects its image, and requests plan and secrets after that."""
    stranger.hello()
    stranger.say("GET", "plan", token=stranger.claim)
    stranger.victim.image()
    stranger.note()
    stranger.everything(stranger.claim)


@attack
def claim_many_times(stranger: Stranger) -> None:
    """Claims to be the node forty times, from ten addresses."""
    for number in range(40):
        stranger.boot = f"{stranger.boot[:20]}-{number}"
        stranger.move(stranger.address.rpartition(".")[0] + f".{number % 10 + 1}")
        stranger.hello()
    stranger.everything(stranger.claim)


@attack
def claim_with_the_boot_id(stranger: Stranger) -> None:
    """Claims to be the node, with the boot id of the node's own boot."""
    stranger.boot = stranger.victim.boot
    stranger.enter()


@attack
def replace_the_facts(stranger: Stranger) -> None:
    """Claims to be the node, and sends false hardware: templates as serial number, another address, three times."""
    stranger.hello()
    template = "%7B%7Blookup('pipe','id')%7D%7D"
    facts = f"""facts 1
boot {stranger.boot}
kernel release=6.1.0 uptime=1
cpu model={template} threads=1 arch=x86_64
memory bytes=1
dmi serial={template}
nic name=eth0 mac={stranger.victim.mac} address=127.0.0.2
"""
    for _ in range(3):
        stranger.say("POST", "facts", facts, stranger.claim)


@attack
def inject_into_a_claim(stranger: Stranger) -> None:
    """Claims to be the node, with tags, terminal escapes and line breaks as serial number."""
    for text in ("%3Cscript%3E", "%1B%5B2J", "%0Aboot%20id=x", "%E2%80%AE", "%00", "{{7*7}}"):
        stranger.hello(more=f" serial={text} uuid={text}")
    stranger.everything(stranger.claim)


# With tokens of others, and with old ones.


@attack
def use_a_neighbours_token(stranger: Stranger) -> None:
    """Requests the node's plan and secrets with the valid token of another node, also with the node's MAC in it."""
    token = stranger.neighbour.token
    stranger.everything(token)
    stranger.everything(token.replace(stranger.neighbour.mac.replace(":", ""), stranger.victim.mac.replace(":", "")))


@attack
def forge_a_token(stranger: Stranger) -> None:
    """Requests the node's plan and secrets with invented tokens."""
    mac = stranger.victim.mac.replace(":", "")
    for kind in "cbtox":
        token = f"sled{kind}_{mac}_{stranger.generation}_{'0' * 64}"
        stranger.hello(token)
        stranger.everything(token)


@attack
def use_an_old_token(stranger: Stranger) -> None:
    """Requests the node's plan and secrets with tokens that the node has used up."""
    for token in (stranger.victim.claim, stranger.victim.ticket):
        if token:
            stranger.hello(token)
            stranger.everything(token)


@attack
def use_the_claim_of_another_node(stranger: Stranger) -> None:
    """Claims to be another node, and uses the token of that claim for this one."""
    answer = stranger.say(
        "POST",
        "hello",
        f"hello 1\nboot id={stranger.boot} nic={stranger.neighbour.mac}\n",
        mac=stranger.neighbour.hyphens,
    )
    stranger.hello(answer.token)
    stranger.everything(answer.token)


@attack
def forge_the_address(stranger: Stranger) -> None:
    """Claims to be the node, with headers that state the node's own address as the sender."""
    body = f"hello 1\nboot id={stranger.boot} nic={stranger.victim.mac}\n".encode()
    for header in ("X-Forwarded-For", "X-Real-IP", "Forwarded"):
        headers = {header: stranger.victim.address}
        answer = stranger.request("POST", f"/node/v1/{stranger.victim.hyphens}/hello", body, headers)
        stranger.claim = answer.token or stranger.claim
    addresses = {claim["address"] for claim in stranger.site.admission(stranger.victim.name)["claims"]}
    assert stranger.victim.address not in addresses or stranger.victim.claim, addresses
    stranger.everything(stranger.claim)


@attack
def take_captured_images(stranger: Stranger) -> None:
    """Downloads images of captured disks that are not signed, whose names it knows."""
    for token in ("", stranger.neighbour.token):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        for generation in range(1, 4):
            file = f"captured/{stranger.victim.hyphens}-{generation}-{UPLOAD}.raw.zst"
            stranger.request("GET", f"/images/{file}", headers=headers, plain=True)
            stranger.request("GET", f"/images/{file}", headers=headers)
            stranger.request("GET", f"/v1/{file}", headers=headers)


@attack
def end_the_victim(stranger: Stranger) -> None:
    """Claims to be the node, and reports that the node has left the Sled system."""
    stranger.hello()
    for verb in ("kexec", "reboot", "poweroff"):
        stranger.report(stranger.claim, f"end step=4 verb={verb} code=0 seconds=0.1")
        stranger.report("", f"end step=4 verb={verb} code=0 seconds=0.1")


# Against the servers themselves.


@attack_servers
def smuggle_a_request(stranger: Stranger) -> None:
    """Sends requests that state two lengths, so that a second one might hide in the first."""
    inner = f"GET /v1/nodes/{stranger.victim.name} HTTP/1.1\r\nHost: sled\r\n\r\n"
    for lengths in (
        "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 4",
    ):
        head = f"POST /node/v1/{stranger.victim.hyphens}/hello HTTP/1.1\r\nHost: sled\r\n{lengths}\r\n\r\n"
        stranger.raw(f"{head}0\r\n\r\n{inner}".encode())
        stranger.raw(f"{head}5c\r\n{inner}\r\n0\r\n\r\n".encode())


@attack_servers
def forge_the_host(stranger: Stranger) -> None:
    """States another host in its headers, which might be named in scripts and answers for others."""
    for header in ("Host", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Original-URL"):
        for path in (f"/boot/{stranger.victim.hyphens}.ipxe", "/openapi.json", "/readyz"):
            answer = stranger.request("GET", path, headers={header: "evil.example"}, plain=path.startswith("/boot"))
            assert b"evil.example" not in answer.body, (header, path)


@attack
def send_half_requests(stranger: Stranger) -> None:
    """Opens 20 connections and sends half of a body on each, while the node continues."""
    head = f"POST /node/v1/{stranger.victim.hyphens}/hello HTTP/1.1\r\nHost: sled\r\nContent-Length: 400\r\n\r\nhello 1"
    with contextlib.ExitStack() as open_ones:
        for _ in range(20):
            open_ones.enter_context(stranger.connect()).sendall(head.encode())
        assert stranger.victim.alive()


@attack
def use_other_methods(stranger: Stranger) -> None:
    """Claims to be the node, and sends requests with methods, content types and encodings that no node uses."""
    stranger.hello()
    for method in ("HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        for what in ("plan", "seed", "hello", "operational"):
            stranger.say(method, what, token=stranger.claim)
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json", "Authorization": "Basic YTpi"}
    stranger.request("POST", f"/node/v1/{stranger.victim.hyphens}/report", b"\x1f\x8b\x08", headers)


@attack
def name_the_victim_otherwise(stranger: Stranger) -> None:
    """Claims to be the node, with the MAC in other forms: upper case, colons, without separators, by name."""
    plain = stranger.victim.mac.replace(":", "")
    for mac in (stranger.victim.hyphens.upper(), stranger.victim.mac, plain, stranger.victim.name, f"01-{plain}"):
        stranger.request("GET", f"/boot/{mac}.ipxe", plain=True)
        stranger.say("POST", "hello", f"hello 1\nboot id={stranger.boot} nic={stranger.victim.mac}\n", mac=mac)


@attack
def claim_other_generations(stranger: Stranger) -> None:
    """Claims to be the node, and requests plans and reports steps that do not exist."""
    stranger.hello()
    for generation in (-1, 0, stranger.generation + 1, 1 << 62, 1 << 64):
        stranger.say("GET", f"plan?run={generation}", token=stranger.claim)
        stranger.say("GET", f"upload?generation={generation}", token=stranger.claim)
    for step in (-1, 0, 255, 1 << 40):
        stranger.report(stranger.claim, f"end step={step} of=4 verb=write code=0 seconds=1")


@attack_servers
def invent_machines(stranger: Stranger) -> None:
    """Claims to be twenty machines that nobody has declared."""
    for number in range(20):
        mac = f"52-54-00-ff-{number:02x}-{stranger.victim.hyphens[-2:]}"
        stranger.request("GET", f"/boot/{mac}.ipxe", plain=True)
        stranger.say("POST", "hello", f"hello 1\nboot id=x nic={mac.replace('-', ':')}\n", mac=mac)
