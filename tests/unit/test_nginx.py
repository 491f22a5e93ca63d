# SPDX-License-Identifier: Apache-2.0
"""The templates of role nginx, in a real nginx: how often an address may ask, and who reaches the operator API."""

from __future__ import annotations

import grp
import http.client
import os
import pwd
import re
import shutil
import socket
import socketserver
import ssl
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

import jinja2
import pytest

ROOT = Path(__file__).resolve().parents[2]
BURST = 20
CAPTURED = "52-54-00-77-00-01-3.raw.zst"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin")


class Sledd(BaseHTTPRequestHandler):
    """Answers everything, as sledd in good health, on a unix socket."""

    protocol_version = "HTTP/1.1"
    clients: ClassVar[list[str]] = []  # that the web server names
    asked: ClassVar[list[tuple[str, str]]] = []  # who may read and upload captured images: path and token
    public = False
    waited: ClassVar[threading.Event] = threading.Event()  # polls end

    def do_GET(self) -> None:
        self.clients.append(",".join(self.headers.get_all("X-Forwarded-For", [])))
        if "/captured" in self.path or "/upload" in self.path:
            self.captured()
            return
        if "wait=" in self.path:
            self.waited.wait(30)
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(b"sledd\n")

    def captured(self) -> None:
        """Lets tokens through that are good, or everybody; asked before a captured image is read or uploaded."""
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        self.asked.append((self.path, token))
        self.send_response(200 if self.public else {"good": 204, "": 401}.get(token, 403))
        self.send_header("Cache-Control", "public, max-age=10" if self.public else "no-store")
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")  # so that it has ended when its socket has
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


class SocketServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """An HTTP server on a unix socket."""

    daemon_threads = True
    request_queue_size = 128


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def certificate(directory: Path) -> None:
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=test -keyout key -out crt"
    subprocess.run(command.split(), check=True, capture_output=True, cwd=directory)


def configuration(directory: Path, ports: tuple[int, int], **changes: Any) -> str:
    """The templates of the role with its defaults, in a directory of the test."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ROOT / "roles/nginx/templates"),
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["comment"] = lambda text: f"# {text}"
    values = {
        "ansible_managed": "test",
        "__nginx_certificate": {"stat": {}},
        "_nginx_user": f"{pwd.getpwuid(os.getuid()).pw_name} {grp.getgrgid(os.getgid()).gr_name}",
        "_nginx_cache": directory / "cache",
        "nginx_sledd": f"unix:{directory}/sock",
        "nginx_http_port": ports[0],
        "nginx_https_port": ports[1],
        "nginx_connections": 256,
        "nginx_root": directory,
        "nginx_certificate": directory / "crt",
        "nginx_certificate_key": directory / "key",
        "nginx_uploads": 8,
        "nginx_upload_max": "1g",
        "nginx_rate": 1,
        "nginx_rate_burst": BURST,
        "nginx_rate_exempt": [],
        "nginx_requests": 64,
        "nginx_operator_networks": [],
        "nginx_operator_port": ports[1],
        "_nginx_apart": False,
        "_nginx_boot_listen": "",
        "_nginx_operator_listen": "",
    }
    text = environment.get_template("etc/nginx/nginx.conf.j2").render(values | changes)
    text = text.replace("/var/log/nginx", str(directory)).replace("/run/nginx.pid", str(directory / "pid"))
    text = text.replace("/usr/share/sled/fallback.ipxe", str(directory / "fallback.ipxe"))
    return re.sub(r"^worker_rlimit_nofile .*$", "daemon off;", text, flags=re.M)


class Front:
    """An nginx in front of a sledd that answers everything."""

    def __init__(self, directory: Path, **changes: Any) -> None:
        self.directory, self.apart = directory, bool(changes.get("_nginx_apart"))
        certificate(directory)
        (directory / "images/captured/.part").mkdir(parents=True)
        for name in (CAPTURED, "golden", ".part/1"):
            (directory / "images/captured" / name).write_text("shadow")
        (directory / "fallback.ipxe").write_text("#!ipxe\n")
        self.sledd = SocketServer(str(directory / "sock"), Sledd)
        self.thread = threading.Thread(target=self.sledd.serve_forever, daemon=True)
        self.thread.start()
        self.ports = (free_port(), free_port())
        config = directory / "nginx.conf"
        config.write_text(configuration(directory, self.ports, **changes))
        assert NGINX
        command = [NGINX, "-c", str(config), "-p", str(directory), "-e", str(directory / "error.log")]
        self.nginx = subprocess.Popen(command)

    def plain(self) -> http.client.HTTPConnection:
        return self.connect(http.client.HTTPConnection("127.0.0.1", self.ports[0], timeout=10))

    def encrypted(self, address: str = "127.0.0.1") -> http.client.HTTPConnection:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return self.connect(http.client.HTTPSConnection(address, self.ports[1], timeout=10, context=context))

    def connect(self, connection: http.client.HTTPConnection) -> http.client.HTTPConnection:
        """Waits until nginx listens."""
        while True:
            try:
                connection.connect()
                return connection
            except ConnectionRefusedError:
                assert self.nginx.poll() is None, "nginx has ended"

    def reach(self, source: str = "127.0.0.1") -> socket.socket:
        self.encrypted().close()  # it listens from here on
        return socket.create_connection(("127.0.0.1", self.ports[1]), 10, (source, 0))

    def connect_from(self, source: str) -> ssl.SSLSocket:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context.wrap_socket(self.reach(source))

    def stop_sledd(self) -> None:
        self.sledd.shutdown()
        self.sledd.server_close()
        self.thread.join()

    def stop(self) -> None:
        self.nginx.terminate()
        self.nginx.wait(10)
        if self.thread.is_alive():
            self.stop_sledd()


@pytest.fixture
def front(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Front]:
    if NGINX is None:
        pytest.skip("nginx is not installed")
    running = Front(tmp_path, **request.param)
    try:
        yield running
    finally:
        running.stop()


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


@pytest.mark.parametrize("front", [{"nginx_rate_exempt": ["127.0.0.0/8"]}, {"nginx_rate": 0}], indirect=True)
def test_an_exempt_address_is_not(front: Front) -> None:
    assert ask(front) == {("sledd", 200): 4 * BURST}


@pytest.mark.parametrize("front", [{}], indirect=True)
def test_a_client_does_not_choose_its_address(front: Front) -> None:
    forged = {"X-Forwarded-For": "10.0.0.66", "X-Real-IP": "10.0.0.66", "Forwarded": "for=10.0.0.66"}
    Sledd.clients.clear()
    plain, encrypted = front.plain(), front.encrypted()
    get(plain, "/boot/52-54-00-77-00-01.ipxe", **forged)
    for path in ("/node/v1/x/plan", "/v1/nodes", "/v1/events", "/readyz"):
        get(encrypted, path, **forged)
    for connection in (plain, encrypted):
        connection.close()
    assert Sledd.clients == ["127.0.0.1"] * 5


OPERATORS = ("/v1/nodes", "/v1/events", "/openapi.json", "/readyz")


@pytest.mark.parametrize("front", [{"nginx_operator_networks": ["10.99.0.0/16"]}], indirect=True)
def test_strangers_do_not_reach_the_operator_api(front: Front) -> None:
    connection = front.encrypted()
    for path in (*OPERATORS, "/metrics"):
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
def test_an_outage_of_sledd_is_a_problem_document(front: Front) -> None:
    connection = front.encrypted()
    front.stop_sledd()
    for path in (*OPERATORS, "/metrics", "/node/v1/x/plan", "/healthz"):
        assert get(connection, path) == ('{"titl', 503), path
    connection.close()


@pytest.mark.parametrize("front", [{}], indirect=True)
def test_metrics_are_not_for_everybody(front: Front) -> None:
    connection = front.encrypted()
    assert get(connection, "/metrics") == ("<html>", 404)
    connection.close()


APART = {"_nginx_apart": True, "_nginx_boot_listen": "127.0.0.1:", "_nginx_operator_listen": "127.0.0.2:"}


@pytest.mark.parametrize("front", [APART, APART | {"_nginx_boot_listen": ""}], indirect=True)
def test_operators_have_an_address_of_their_own(front: Front) -> None:
    nodes, operators = front.encrypted(), front.encrypted("127.0.0.2")
    for path in (*OPERATORS, "/metrics"):
        assert get(nodes, path) == ("<html>", 404), path
        assert get(operators, path) == ("sledd", 200), path
    assert get(nodes, "/node/v1/x/plan") == ("sledd", 200)
    for path in ("/node/v1/x/plan", "/images/x", "/upload/52-54-00-77-00-01-1.raw.zst", "/boot/52-54-00-77-00-01.ipxe"):
        assert get(operators, path) == ("<html>", 404), path
    for connection in (nodes, operators):
        assert get(connection, "/healthz") == ("sledd", 200)
        connection.close()


@pytest.mark.parametrize("front", [APART | {"nginx_operator_networks": ["10.99.0.0/16"]}], indirect=True)
def test_networks_count_there_too(front: Front) -> None:
    connection = front.encrypted("127.0.0.2")
    assert get(connection, "/v1/nodes") == ('{"titl', 403)
    connection.close()


@pytest.mark.parametrize("front", [{}], indirect=True)
def test_a_captured_image_needs_a_token_until_it_is_public(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    Sledd.asked.clear()
    path, question = f"/images/captured/{CAPTURED}", "/node/v1/52-54-00-77-00-01/captured?generation=3"
    for connection in (front.plain(), front.encrypted()):
        assert get(connection, path)[1] == 401
        assert get(connection, path, Authorization="Bearer bad")[1] == 403
        assert get(connection, path, Authorization="Bearer good", Range="bytes=2-3") == ("ad", 206)
        for other in ("golden", ".part/1", f".part/{CAPTURED}", "", f"{CAPTURED}/"):
            assert get(connection, f"/images/captured/{other}", Authorization="Bearer good")[1] == 404, other
        assert get(connection, "/captured/allowed")[1] == 404
        connection.close()
    assert Sledd.asked == [(question, ""), (question, "bad"), (question, "good")] * 2
    monkeypatch.setattr(Sledd, "public", True)
    plain = front.plain()
    assert [get(plain, path) for _ in range(5)] == [("shadow", 200)] * 5
    assert len(Sledd.asked) == 7  # it is asked once
    plain.close()
    front.stop_sledd()
    plain = front.plain()
    assert get(plain, path) == ("shadow", 200)
    assert get(plain, path.replace("-3.raw", "-4.raw"))[1] == 503
    plain.close()


@pytest.mark.parametrize("front", [APART, {}], indirect=True)
def test_operators_read_captured_images_from_their_address_alone(front: Front) -> None:
    Sledd.asked.clear()
    operators = front.encrypted("127.0.0.2") if front.apart else front.encrypted()
    path = f"/v1/captured/{CAPTURED}"
    assert get(operators, path)[1] == 401
    assert get(operators, path, Authorization="Bearer bad")[1] == 403
    assert get(operators, path, Authorization="Bearer good", Range="bytes=2-3") == ("ad", 206)
    assert Sledd.asked == [(path, ""), (path, "bad"), (path, "good")]
    for other in ("golden", "..%2fgolden", ".part/1"):
        assert get(operators, f"/v1/captured/{other}", Authorization="Bearer good") != ("shadow", 200)
    assert get(operators, "/v1/captured-allowed")[1] == 404
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
    file = front.directory / "images/captured/52-54-00-77-00-01-5.raw.zst"
    assert file.stat().st_mode & 0o777 == 0o600
    connection.close()
