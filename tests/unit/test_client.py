# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import (
    ApiError,
    Client,
    SettingsError,
    SledError,
    Unreachable,
    check_server,
)
from ansible_collections.sled.fleet.plugins.module_utils.options import read_token
from ansible_collections.sled.fleet.tests.unit.double import TOKEN, Sledd


def test_lists_read_all_pages(sledd: Sledd, client: Client) -> None:
    for number in range(1, 6):
        sledd.node(f"n{number}", number)
    names = [node["name"] for node in client.nodes(["rack=a", "row=1"], "idle")]
    assert names == ["n1", "n2", "n3", "n4", "n5"]
    assert sledd.asked[0][1] == "/v1/nodes?label=rack%3Da&label=row%3D1&phase=idle&limit=2000"


def test_names_cannot_leave_their_place(sledd: Sledd, client: Client) -> None:
    assert client.find("nodes", "../images/x?y") is None
    assert sledd.asked[-1][1] == "/v1/nodes/..%2Fimages%2Fx%3Fy"
    for name in ("", ".", ".."):
        with pytest.raises(SettingsError, match="is not a name in nodes"):
            client.find("nodes", name)


@pytest.mark.parametrize("status", [400, 401, 403, 409, 412, 500, 503])
def test_only_404_means_not_there(sledd: Sledd, client: Client, status: int) -> None:
    sledd.refuse = [status, status]
    with pytest.raises(ApiError, match=rf"so says the test \({status} T\)") as caught:
        client.find("nodes", "n1")
    assert caught.value.status == status
    with pytest.raises(ApiError):
        client.log("n1")


def test_details_are_told() -> None:
    problem = {
        "title": "T",
        "detail": "nothing was bound",
        "errors": [{"location": "body.items[3].image", "message": "no such image"}, "?"],
    }
    assert str(ApiError("POST /x", 422, problem)) == "nothing was bound: body.items[3].image: no such image (422 T)"
    same = {"title": "T", "detail": "bad", "errors": [{"location": "body", "message": "bad"}]}
    assert str(ApiError("POST /x", 422, same)) == "bad (422 T)"
    assert str(ApiError("GET /x", 502, {})) == "GET /x (502 Bad Gateway)"


@pytest.mark.parametrize(("raw", "words"), [(b"<html>", "is not JSON"), (b"[]", "is not a JSON object")])
def test_answers_that_are_none(sledd: Sledd, client: Client, raw: bytes, words: str) -> None:
    sledd.raw = raw
    with pytest.raises(SledError, match=words):
        client.find("nodes", "n1")


def test_redirects_are_not_followed(sledd: Sledd, client: Client) -> None:
    sledd.refuse = [301]
    with pytest.raises(ApiError, match="sent on to https://elsewhere/: give that address"):
        client.find("nodes", "n1")


def test_a_wrong_token_is_denied(sledd: Sledd) -> None:
    with pytest.raises(ApiError, match="401") as caught:
        Client(sledd.url, "other").find("nodes", "n1")
    assert "other" not in str(caught.value)


def test_nobody_there() -> None:
    with pytest.raises(Unreachable, match=r"http://127\.0\.0\.1:1 cannot be reached"):
        Client("http://127.0.0.1:1", TOKEN).find("nodes", "n1")


def test_tls_needs_the_ca(tmp_path: Path) -> None:
    sledd = Sledd()
    certificate = sledd.use_tls(tmp_path)
    sledd.start()
    try:
        sledd.node("n1", 1)
        with pytest.raises(Unreachable, match="certificate"):
            Client(sledd.url, TOKEN).find("nodes", "n1")
        node = Client(sledd.url, TOKEN, str(certificate)).find("nodes", "n1")
        assert node is not None
        assert node["name"] == "n1"
    finally:
        sledd.stop()


@pytest.mark.parametrize(
    "answer",
    [
        b"Client sent an HTTP request to an HTTPS server.\n",
        b"<center>The plain HTTP request was sent to HTTPS port</center>",
    ],
)
def test_plain_http_to_a_port_of_tls(answer: bytes) -> None:
    """As Go's server and nginx answer."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_answer, args=(listener, answer), daemon=True).start()
        place = f"127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(SledError, match=f"^http://{place} speaks TLS: give https://{place} as the server"):
            Client(f"http://{place}", TOKEN).find("nodes", "n1")


def _answer(listener: socket.socket, body: bytes) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(b"HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain\r\n\r\n" + body)


def test_a_ca_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    file = tmp_path / "ca.crt"
    with pytest.raises(SettingsError, match=f"^ca_file {file}: No such file or directory"):
        Client("https://127.0.0.1:1", TOKEN, str(file))
    file.write_text("-----BEGIN PRIVATE KEY-----")
    with pytest.raises(SettingsError, match=f"^ca_file {file} holds no certificate: want a PEM file"):
        Client("https://127.0.0.1:1", TOKEN, str(file))


@pytest.mark.parametrize(
    ("server", "words"),
    [
        ("10.77.0.1", "want https://ADDRESS"),
        ("ftp://10.77.0.1", "want https://ADDRESS"),
        ("https://a/?x=1", "want https://ADDRESS"),
        ("http://10.77.0.1", "in clear"),
    ],
)
def test_servers_that_cannot_be(server: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        check_server(server)


def test_servers_that_can_be() -> None:
    assert check_server("https://10.77.0.1/") == "https://10.77.0.1"
    assert check_server("http://[::1]:9470") == "http://[::1]:9470"
    assert check_server("http://localhost:1") == "http://localhost:1"


def test_tokens(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("secret\n")
    assert read_token(None, str(file)) == "secret"
    assert read_token("given", str(file)) == "given"
    file.write_text("two words")
    with pytest.raises(SettingsError, match="want one word") as caught:
        read_token(None, str(file))
    assert "words" not in str(caught.value)
    file.write_text("\n")
    for name, words in ((str(file), "is empty"), (str(tmp_path / "none"), "No such file"), (None, "SLED_TOKEN_FILE")):
        with pytest.raises(SettingsError, match=words):
            read_token(None, name)
