# SPDX-License-Identifier: Apache-2.0
"""Connections are used again where that is safe, and never where the next response could be another one's."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from ansible_collections.sled.fleet.plugins.module_utils import connections
from ansible_collections.sled.fleet.plugins.module_utils.client import ApiError, Client, Unreachable
from ansible_collections.sled.fleet.plugins.module_utils.connections import is_direct
from ansible_collections.sled.fleet.tests.unit.double import TOKEN, Sledd

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n%s\r\n{}"


class Server:
    """Answers as a test says, and counts connections."""

    def __init__(self) -> None:
        self.taken, self.served, self.answer, self.ends = 0, 0, ANSWER % b"", False
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.taken += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(ConnectionError):
            while request := connection.recv(65536):
                assert request.endswith(b"\r\n\r\n")
                self.served += 1
                connection.sendall(self.answer)
                if self.ends:
                    return

    def stop(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread, which holds it open
        self._socket.close()


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server()
    yield one
    one.stop()


def test_a_connection_serves_many_requests(server: Server) -> None:
    client = Client(server.url, TOKEN, timeout=60)
    for _ in range(5):
        client.find("nodes", "n1")
    assert (server.taken, server.served) == (1, 5)


def test_each_thread_has_its_own(sledd: Sledd, client: Client) -> None:
    for number in range(1, 9):
        sledd.node(f"n{number}", number)
    names = [f"n{number % 8 + 1}" for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda name: client.find("nodes", name), names))
    assert [node["name"] for node in found if node] == names


def test_an_error_leaves_the_connection(sledd: Sledd, client: Client) -> None:
    sledd.node("n1", 1)
    for _ in range(3):
        sledd.refuse = [409]
        with pytest.raises(ApiError, match="409"):
            client.find("nodes", "n1")
        assert client.find("nodes", "n1")


@pytest.mark.parametrize(
    "answer", [ANSWER % b"Connection: close\r\n", b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}"]
)
def test_what_the_server_closes_is_not_used_again(server: Server, answer: bytes) -> None:
    server.answer = answer
    client = Client(server.url, TOKEN, timeout=60)
    client.find("nodes", "n1")
    client.find("nodes", "n1")
    assert server.taken == 2


def test_a_server_that_was_started_anew_is_not_missed(server: Server) -> None:
    """A change is sent once, on a connection that stands: nothing is sent twice, and nothing fails."""
    server.ends = True
    client = Client(server.url, TOKEN, timeout=60)
    for count in range(1, 4):
        client.delete("nodes", "n1", 0)
        assert client._connections
        while not connections._readable(client._connections._kept[0].connection):
            threading.Event().wait(0.01)
        assert (server.taken, server.served) == (count, count)


def test_an_old_connection_is_not_used_again(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "IDLE", 0.0)
    client = Client(server.url, TOKEN, timeout=60)
    client.find("nodes", "n1")
    client.find("nodes", "n1")
    assert server.taken == 2


def test_a_response_that_is_not_read_to_its_end_ends_the_connection(server: Server) -> None:
    client = Client(server.url, TOKEN, timeout=60)
    server.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\ndata: {}\n"
    with client.events() as response:
        assert response.readline() == b"data: {}\n"
    server.answer = ANSWER % b""
    client.find("nodes", "n1")
    assert server.taken == 2


def test_a_response_that_is_cut_off(server: Server) -> None:
    server.answer, server.ends = b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{", True
    with pytest.raises(Unreachable, match="cannot be reached"):
        Client(server.url, TOKEN, timeout=60).find("nodes", "n1")


def test_a_proxy_of_the_environment_is_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_direct("http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", server.url)
    assert not is_direct("http://127.0.0.1:1")
    assert Client("http://127.0.0.1:1", TOKEN, timeout=60).find("nodes", "n1") == {}
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert is_direct("http://127.0.0.1:1")
