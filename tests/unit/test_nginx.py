# SPDX-License-Identifier: Apache-2.0
"""The templates of role nginx, in a real nginx: how often an address may ask, and who reaches the operator API."""

from __future__ import annotations

import http.client
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.sled.fleet.tests.unit.front import (
    BURST,
    CAPTURED,
    ROOT,
    UPLOAD,
    UPLOADED_AS,
    Front,
    Sledd,
    front,
)
from ansible_collections.sled.fleet.tests.unit.test_inventory import ansible

__all__ = ["front"]


def get(connection: http.client.HTTPConnection, path: str, **headers: str) -> tuple[str, int]:
    """Returns the first bytes of the body and the status."""
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    return response.read()[:6].decode().strip(), response.status


def ask(front: Front) -> Counter[tuple[str, int]]:
    """Counts the answers to 40 requests for boot scripts and 40 to the node API."""
    counts: Counter[tuple[str, int]] = Counter()
    paths = {"/boot/52-54-00-77-00-01.ipxe": front.plain(), "/node/v1/x/plan": front.encrypted()}
    for path, connection in paths.items():
        for _ in range(2 * BURST):
            counts[get(connection, path)] += 1
        connection.close()
    return counts


@pytest.mark.parametrize("front", [{}], indirect=True)
def test_an_address_is_limited(front: Front) -> None:
    answers = ask(front)
    passed = answers[("sledd", 200)]
    assert BURST <= passed <= BURST + 15  # both kinds share one limit
    assert answers[("#!ipxe", 200)] + answers[('{"titl', 429)] == 4 * BURST - passed
    assert answers[("#!ipxe", 200)] > 0 and answers[('{"titl', 429)] > 0


EXEMPT = [{"nginx_rate_exempt": ["127.0.0.0/8"]}, {"nginx_relays": ["127.0.0.1"]}, {"nginx_rate": 0}]


@pytest.mark.parametrize("front", EXEMPT, indirect=True)
def test_an_exempt_address_is_not(front: Front) -> None:
    assert ask(front) == {("sledd", 200): 4 * BURST}


@pytest.mark.parametrize("front", [{}], indirect=True)
def test_a_client_does_not_choose_its_address(front: Front) -> None:
    forged = {"X-Forwarded-For": "10.0.0.66", "X-Real-IP": "10.0.0.66", "Forwarded": "for=10.0.0.66"}
    Sledd.clients.clear()
    plain, encrypted = front.plain(), front.encrypted()
    get(plain, "/boot/52-54-00-77-00-01.ipxe", **forged)
    for path in ("/node/v1/x/plan", "/v1/nodes", "/v1/events", "/readyz", "/ui/"):
        get(encrypted, path, **forged)
    for connection in (plain, encrypted):
        connection.close()
    assert Sledd.clients == ["127.0.0.1"] * 6


OPERATORS = ("/v1/nodes", "/v1/events", "/openapi.json", "/readyz", "/metrics", "/ui/", "/ui/nodes/n1", "/")


@pytest.mark.parametrize("front", [{"nginx_operator_networks": ["10.99.0.0/16"]}], indirect=True)
def test_strangers_do_not_reach_the_operator_api(front: Front) -> None:
    connection = front.encrypted()
    for path in OPERATORS:
        assert get(connection, path) == ('{"titl', 403), path
    for path in ("/node/v1/x/plan", "/healthz"):
        assert get(connection, path) == ("sledd", 200), path
    connection.close()


@pytest.mark.parametrize("front", [{"nginx_operator_networks": ["10.99.0.0/16", "127.0.0.0/8"]}, {}], indirect=True)
def test_operators_do(front: Front) -> None:
    connection = front.encrypted()
    for path in OPERATORS:
        assert get(connection, path) == ("sledd", 200), path
    connection.close()


@pytest.mark.parametrize("front", [{"nginx_operator_networks": ["127.0.0.0/8"]}], indirect=True)
def test_an_outage_of_sledd_is_a_problem_document_and_a_page_for_browsers(front: Front) -> None:
    connection = front.encrypted()
    front.stop_sledd()
    for path in (*OPERATORS, "/node/v1/x/plan", "/healthz"):
        start = "<!DOCT" if path == "/" or path.startswith("/ui/") else '{"titl'
        assert get(connection, path) == (start, 503), path
    connection.close()


APART = {"_nginx_apart": True, "_nginx_boot_listen": ["127.0.0.1:"], "_nginx_operator_listen": ["127.0.0.2:"]}


@pytest.mark.parametrize("front", [APART, APART | {"_nginx_boot_listen": [""]}], indirect=True)
def test_operators_have_an_address_of_their_own(front: Front) -> None:
    nodes, operators = front.encrypted(), front.encrypted("127.0.0.2")
    for path in OPERATORS:
        assert get(nodes, path) == ("<html>", 404), path
        assert get(operators, path) == ("sledd", 200), path
    assert get(nodes, "/node/v1/x/plan") == ("sledd", 200)
    for path in ("/node/v1/x/plan", "/images/x", "/upload/52-54-00-77-00-01-1.raw.zst", "/boot/52-54-00-77-00-01.ipxe"):
        assert get(operators, path) == ("<html>", 404), path
    for connection in (nodes, operators):
        assert get(connection, "/healthz") == ("sledd", 200)
        connection.close()


@pytest.mark.parametrize("front", [{"_nginx_boot_listen": ["", "[::]:"]}], indirect=True)
def test_nodes_have_ipv6(front: Front) -> None:
    front.plain().close()  # it listens from here on
    plain, encrypted = http.client.HTTPConnection("::1", front.ports[0], timeout=60), front.encrypted("::1")
    assert get(plain, "/boot/52-54-00-77-00-01.ipxe") == ("sledd", 200)
    assert get(encrypted, "/node/v1/x/plan") == ("sledd", 200)
    plain.close()
    encrypted.close()


def test_the_role_listens_on_every_address_that_the_machine_can_have(tmp_path: Path) -> None:
    both, port = "['80', '443', '[::]:80', '[::]:443']", "'[fd00::1]:'"
    cases: list[tuple[dict[str, Any], str]] = [
        ({"all_ipv6_addresses": []}, "_nginx_listens | unique == ['80', '443']"),
        ({"all_ipv6_addresses": ["fe80::1"]}, f"_nginx_listens | unique == {both}"),
        ({"nginx_boot_address": "fd00::1"}, f"_nginx_boot_listen == [{port}]"),
        ({"nginx_operator_address": "fd00::1"}, f"_nginx_operator_listen == [{port}]"),
        ({"nginx_operator_address": "fd00::1"}, "_nginx_operator_url == 'https://[fd00::1]:443'"),
        ({"nginx_operator_address": ""}, "_nginx_operator_url == 'https://[fd00::2]:443'"),
    ]
    tasks: list[dict[str, Any]] = []
    for facts, wanted in cases:
        tasks += [{"set_fact": facts | {"cacheable": True}}, {"assert": {"that": wanted}}]
    files = [str(ROOT / "roles/nginx" / part / "main.yml") for part in ("defaults", "vars")]
    play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "vars_files": files, "tasks": tasks}
    (tmp_path / "play.json").write_text(json.dumps([play]), encoding="utf-8")
    ran = ansible("playbook", tmp_path, "-i", "localhost,", "-e", "nginx_address=fd00::2", "play.json")
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("front", [APART | {"nginx_operator_networks": ["10.99.0.0/16"]}], indirect=True)
def test_networks_count_there_too(front: Front) -> None:
    connection = front.encrypted("127.0.0.2")
    assert get(connection, "/v1/nodes") == ('{"titl', 403)
    connection.close()


@pytest.mark.parametrize("front", [{}], indirect=True)
def test_a_captured_image_needs_a_token_until_it_is_public(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    Sledd.asked.clear()
    path, question = f"/images/captured/{CAPTURED}", f"/node/v1/52-54-00-77-00-01/captured?generation=3&upload={UPLOAD}"
    for connection in (front.plain(), front.encrypted()):
        assert get(connection, path)[1] == 401
        assert get(connection, path, Authorization="Bearer bad")[1] == 403
        assert get(connection, path, Authorization="Bearer good", Range="bytes=2-3") == ("ad", 206)
        for other in ("golden", UPLOADED_AS, ".part/1", f".part/{CAPTURED}", "", f"{CAPTURED}/"):
            assert get(connection, f"/images/captured/{other}", Authorization="Bearer good")[1] == 404, other
        assert get(connection, "/captured/allowed")[1] == 404
        connection.close()
    assert Sledd.asked == [(question, ""), (question, "bad"), (question, "good")] * 2
    monkeypatch.setattr(Sledd, "public", True)
    plain = front.plain()
    assert [get(plain, path) for _ in range(5)] == [("shadow", 200)] * 5
    assert len(Sledd.asked) == 7  # it is asked once
    plain.close()


@pytest.mark.parametrize("front", [{}], indirect=True)
def test_a_right_to_a_captured_image_outlives_neither_itself_nor_sledd(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/images/captured/{CAPTURED}"
    monkeypatch.setattr(Sledd, "public", True)
    monkeypatch.setattr(Sledd, "kept", 1)  # seconds
    plain = front.plain()
    assert get(plain, path) == ("shadow", 200)
    monkeypatch.setattr(Sledd, "public", False)
    assert eventually(plain, path) == 401  # the image was deleted, or its signature withdrawn
    monkeypatch.setattr(Sledd, "public", True)
    assert get(plain, path) == ("shadow", 200)
    plain.close()
    front.stop_sledd()
    plain = front.plain()
    assert eventually(plain, path) == 503
    plain.close()


def eventually(connection: http.client.HTTPConnection, path: str) -> int:
    """The first status other than 200."""
    deadline = time.monotonic() + 20
    while (status := get(connection, path)[1]) == 200 and time.monotonic() < deadline:
        time.sleep(0.05)
    return status


@pytest.mark.parametrize("front", [APART, {}], indirect=True)
def test_operators_read_captured_images_from_their_address_alone(front: Front) -> None:
    Sledd.asked.clear()
    operators = front.encrypted("127.0.0.2") if front.apart else front.encrypted()
    path = f"/v1/captured/{CAPTURED}"
    assert get(operators, path)[1] == 401
    assert get(operators, path, Authorization="Bearer bad")[1] == 403
    assert get(operators, path, Authorization="Bearer good", Range="bytes=2-3") == ("ad", 206)
    assert Sledd.asked == [(path, ""), (path, "bad"), (path, "good")]
    for other in ("golden", UPLOADED_AS, "..%2fgolden", ".part/1"):
        assert get(operators, f"/v1/captured/{other}", Authorization="Bearer good") != ("shadow", 200)
    assert get(operators, "/v1/read-allowed")[1] == 404
    operators.close()
    if front.apart:
        for connection in (front.plain(), front.encrypted()):
            assert get(connection, path, Authorization="Bearer good")[1] == 404
            connection.close()


@pytest.mark.parametrize("front", [{}], indirect=True)
def test_an_upload_is_for_no_other_user_of_the_machine(front: Front) -> None:
    connection = front.encrypted()
    connection.request("PUT", "/upload/52-54-00-77-00-01-5.raw.zst", b"shadow", {"Authorization": "Bearer good"})
    assert connection.getresponse().status == 201
    (file,) = front.directory.glob("images/captured/52-54-00-77-00-01-5-*.raw.zst")
    assert file.stat().st_mode & 0o777 == 0o600
    connection.close()
